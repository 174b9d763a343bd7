//! Durations as people write them.

use std::time::Duration;

/// Reads `250us`, `30ms`, `30s`, `2m`, `1h`, with a fraction where it is wanted (`1.5s`). A number
/// without a unit means seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{unit:?} is not a unit: use us, ms, s, m or h")),
    };
    let number: f64 = number.parse().map_err(|_| format!("{text:?} is not a duration"))?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| format!("{text:?} is too long"))
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
}
