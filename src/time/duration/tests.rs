use super::*;

#[test]
fn durations_are_read_with_their_unit() {
    let rows = [
        ("30s", 30_000_000_000),
        ("1.5s", 1_500_000_000),
        ("0.1s", 100_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("250us", 250_000),
        ("250µs", 250_000),
        ("36.5us", 36_500),
        ("7ns", 7),
        ("1.9ns", 1),
        ("20ms", 20_000_000),
        ("2m", 120_000_000_000),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1d", 86_400_000_000_000),
        ("0.5d", 43_200_000_000_000),
        ("0.0000000000009h", 3),
        ("0.00000000000000000000000000000000000000009h", 0),
        ("0", 0),
        ("00.0", 0),
    ];
    for (text, nanos) in rows {
        assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
    }
    for text in ["", "s", ".", ".s", "-1s", "+1s", "1.2.3s", "NaN", " 1s"] {
        assert_eq!(parse_duration(text), Err(DurationError::NotADuration), "{text}");
    }
    for text in ["1x", "1e9h", "1 s", "1S", "1D", "1w"] {
        assert_eq!(parse_duration(text), Err(DurationError::Unit), "{text}");
    }
    for text in ["30", "60000", "1.5", ".5", "0.001", &"9".repeat(100)] {
        assert_eq!(parse_duration(text), Err(DurationError::NoUnit), "{text}");
    }
    for text in [
        "213503982334602d",
        "99999999999999999999h",
        "18446744073709551616s",
        &("9".repeat(100) + "s"),
    ] {
        assert_eq!(parse_duration(text), Err(DurationError::TooLong), "{text}");
    }
}

#[test]
fn durations_are_written_as_they_are_read() {
    let texts = [
        "0s",
        "1ns",
        "510ns",
        "1.5us",
        "250us",
        "20ms",
        "1.000001ms",
        "1.5s",
        "30s",
        "60.602s",
        "90s",
        "2m",
        "1h",
        "168h",
        "forever",
    ];
    for text in texts {
        assert_eq!(parse_duration(text).map(format_duration), Ok(text.to_owned()));
    }
}

#[test]
fn every_duration_that_is_written_can_be_read_back() {
    let read_back = |duration| {
        let text = format_duration(duration);
        assert_eq!(parse_duration(&text), Ok(duration), "{text}");
    };
    for (text, written) in [("7d", "168h"), ("1.5d", "36h"), ("0.001d", "86.4s")] {
        assert_eq!(parse_duration(text).map(format_duration), Ok(written.to_owned()));
    }
    read_back(Duration::MAX - Duration::from_nanos(1));
    for (_, length) in UNITS {
        for nanos in [length - 1, length, length + 1, 2 * length - 1, 10 * length + 3] {
            read_back(Duration::from_nanos(nanos));
        }
    }
    // Every length of number, with digits of every kind.
    let mut nanos: u64 = 0;
    for seed in 0..100_000_u64 {
        nanos = nanos.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
        read_back(Duration::from_nanos(nanos >> (seed % 64)));
        read_back(Duration::from_millis(nanos >> (seed % 64)));
    }
}
