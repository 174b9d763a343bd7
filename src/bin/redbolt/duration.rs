//! Durations as people write them, within bounds.

use std::time::Duration;

pub(crate) use redbolt::time::format_duration as written;
use redbolt::time::parse_duration;

/// Returns a parser of durations from `least` to `most`. The error continues
/// `--option is "text", …`.
pub(crate) fn between(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value = parse_duration(text).map_err(|error| error.to_string())?;
        if value < least || value > most {
            return Err(format!("between {} and {} is possible", written(least), written(most)));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_what_is_possible() {
        let parse = between(Duration::from_millis(10), Duration::from_secs(7 * 24 * 3600));
        assert!(parse("10ms").is_ok() && parse("168h").is_ok());
        for text in ["9ms", "169h", "0", "forever"] {
            assert_eq!(parse(text), Err("between 10ms and 168h is possible".to_owned()), "{text}");
        }
        let error = Err("which is not a duration such as 250us, 20ms, 30s, 1.5m or 1h".to_owned());
        assert_eq!(parse("soon"), error);
    }
}
