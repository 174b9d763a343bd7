//! Durations within bounds.

use super::*;

#[test]
fn bounds_belong_to_what_is_possible() {
    let parse = between(Duration::from_millis(10), Duration::from_secs(7 * 24 * 3600));
    assert!(parse("10ms").is_ok() && parse("168h").is_ok());
    for text in ["9ms", "169h", "0", "forever", "99999999999999999999s"] {
        assert_eq!(parse(text), Err("between 10ms and 168h is possible".to_owned()), "{text}");
    }
    let wait = between_or_forever(Duration::ZERO, Duration::from_secs(7 * 24 * 3600));
    let week = Duration::from_secs(7 * 24 * 3600);
    assert_eq!(
        (wait("forever"), wait("7d"), wait("0")),
        (Ok(Duration::MAX), Ok(week), Ok(Duration::ZERO))
    );
    for text in ["8d", "99999999999999999999s"] {
        let error = "between 0s and 168h, or forever, is possible".to_owned();
        assert_eq!(wait(text), Err(error), "{text}");
    }
    let error = "which is not a duration such as 250us, 20ms, 30s, 1.5m or 1h".to_owned();
    assert_eq!(wait("never"), Err(format!("{error}, or forever")));
    assert_eq!(parse("soon"), Err(error));
}

#[test]
fn an_option_without_a_unit_is_in_seconds_and_a_variable_is_refused() {
    let (least, most) = (Duration::ZERO, Duration::from_secs(60));
    for (text, seconds) in [("5", 5.0), ("0.5", 0.5), ("5s", 5.0), ("0", 0.0)] {
        let expected = Duration::from_secs_f64(seconds);
        assert_eq!(between(least, most)(text), Ok(expected), "{text}");
    }
    let error = Err("between 0s and 1m is possible".to_owned());
    assert_eq!(between(least, most)("60000"), error);
    let error = Err("which needs a unit, as in 60s or 60000ms".to_owned());
    assert_eq!((within("5", least, most), within("0", least, most)), (error, Ok(least)));
}
