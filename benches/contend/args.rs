//! The options of a scenario: `--name value`.

use std::str::FromStr;
use std::time::Duration;

use redbolt::time::parse_duration;

use crate::Outcome;

/// The longest measurement.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The most of whatever is counted, and the most contenders of one scenario.
pub(crate) const MOST: u32 = 1_000;
const MOST_CONTENDERS: u32 = 10_000;

/// The options by name, the last of equal names first.
pub(crate) struct Args {
    options: Vec<(String, String)>,
}

impl Args {
    /// Reads the words behind the name of a scenario that has these options, and `--nodes`.
    pub(crate) fn parse(scenario: &str, names: &[&str], words: &[String]) -> Outcome<Self> {
        let mut options = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is_known = |name: &&str| *name == "nodes" || names.contains(name);
            let name = word.strip_prefix("--").filter(is_known).ok_or_else(|| {
                let names = names.join(", --");
                format!("{scenario} has no option {word:?}; there are --nodes, --{names}")
            })?;
            let value = words.next().ok_or_else(|| format!("{word} wants a value"))?;
            options.insert(0, (name.to_owned(), value.clone()));
        }
        Ok(Self { options })
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number<T: FromStr>(&self, name: &str, default: T) -> Outcome<T> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("--{name} {text} is no number").into())
    }

    /// A number of what there must be, which is not 0.
    pub(crate) fn count<T: TryFrom<u32>>(&self, name: &str, default: T) -> Outcome<T> {
        self.text(name).map_or(Ok(default), |text| count(name, text, MOST))
    }

    /// The same with commas between, each up to `most`.
    pub(crate) fn counts<T: TryFrom<u32>>(
        &self,
        name: &str,
        default: &str,
        most: u32,
    ) -> Outcome<Vec<T>> {
        let words = self.text(name).unwrap_or(default).split(',');
        words.map(|text| count(name, text, most)).collect()
    }

    pub(crate) fn duration(&self, name: &str, default: Duration) -> Outcome<Duration> {
        let Some(text) = self.text(name) else { return Ok(default) };
        parse_duration(text).map_err(|error| format!("--{name} is {text:?}, {error}").into())
    }

    /// A time in seconds without a unit, as in the other benches.
    pub(crate) fn seconds(&self, default: f64) -> Outcome<Duration> {
        let seconds = self.number("seconds", default)?;
        let length = Duration::try_from_secs_f64(seconds).ok();
        let length = length.filter(|length| !length.is_zero() && *length <= LONGEST);
        length.ok_or_else(|| {
            let most = LONGEST.as_secs();
            format!("--seconds is {seconds}, more than 0 and at most {most} is possible").into()
        })
    }

    pub(crate) fn nodes(&self) -> Outcome<Vec<String>> {
        let nodes = self.text("nodes").ok_or("--nodes is missing")?;
        Ok(nodes.split(',').map(str::to_owned).collect())
    }
}

/// Checks that so many contenders can be started.
pub(crate) fn check_contenders(contenders: u32) -> Outcome {
    match contenders {
        ..=MOST_CONTENDERS => Ok(()),
        _ => Err(format!("{contenders} contenders, {MOST_CONTENDERS} are possible").into()),
    }
}

fn count<T: TryFrom<u32>>(name: &str, text: &str, most: u32) -> Outcome<T> {
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    count
        .and_then(|count| T::try_from(count).ok())
        .ok_or_else(|| format!("--{name} has {text:?}, between 1 and {most} is possible").into())
}
