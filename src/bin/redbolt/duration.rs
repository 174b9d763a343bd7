//! Durations as people write them.

use std::time::Duration;

/// The units, from the largest, with their length in nanoseconds.
const UNITS: [(&str, u64); 5] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// Parses `250us`, `30ms`, `30s`, `2m`, `1h`, also with a fraction (`1.5s`). A number without a
/// unit is in seconds. The error continues `--option is "text", …`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    const NONE: &str = "which is not a duration such as 250us, 20ms, 30s, 1.5m or 1h";
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| NONE.to_owned())?;
    let seconds = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("but {unit:?} is not a unit: use us, ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "which is too long".to_owned())
}

/// Returns a parser of durations from `least` to `most`.
pub(crate) fn between(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value = parse(text)?;
        if value < least || value > most {
            return Err(format!("between {} and {} is possible", written(least), written(most)));
        }
        Ok(value)
    }
}

/// Returns the duration as [`parse`] reads it, in the largest unit that needs no fraction.
pub(crate) fn written(duration: Duration) -> String {
    let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let fits = |&&(_, length): &&(&str, u64)| nanos >= length && nanos.is_multiple_of(length);
    match UNITS.iter().find(fits) {
        Some((unit, length)) => format!("{}{unit}", nanos / length),
        None if nanos == 0 => "0s".to_owned(),
        None => format!("{duration:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_unit() {
        let rows = [
            ("30s", 30_000_000),
            ("30", 30_000_000),
            ("1.5s", 1_500_000),
            ("250us", 250),
            ("20ms", 20_000),
            ("2m", 120_000_000),
            ("1h", 3_600_000_000),
            ("0", 0),
        ];
        for (text, micros) in rows {
            assert_eq!(parse(text), Ok(Duration::from_micros(micros)), "{text}");
        }
        for text in ["", "s", "-1s", "1x", "1.2.3s", "1e9h", "99999999999999999999h", "NaN"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_written_as_they_are_read() {
        for text in ["0s", "250us", "20ms", "1500ms", "30s", "90s", "2m", "1h", "168h"] {
            assert_eq!(parse(text).map(written), Ok(text.to_owned()));
        }
        assert_eq!(written(Duration::from_nanos(1_500)), "1.5µs");
    }

    #[test]
    fn bounds_belong_to_what_is_possible() {
        let parse = between(Duration::from_millis(10), Duration::from_secs(7 * 24 * 3600));
        assert!(parse("10ms").is_ok() && parse("168h").is_ok());
        for text in ["9ms", "169h", "0"] {
            assert_eq!(parse(text), Err("between 10ms and 168h is possible".to_owned()), "{text}");
        }
    }
}
