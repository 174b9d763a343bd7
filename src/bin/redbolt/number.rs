//! Whole numbers as people write and read them.

/// Returns a parser of whole numbers from `least` to `most`. The error continues
/// `--option is "text", …`.
pub(crate) fn between(
    least: u32,
    most: u32,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| {
            let (least, most) = (grouped(least.into()), grouped(most.into()));
            format!("a whole number between {least} and {most} is possible")
        })
    }
}

/// Returns the number with commas between groups of three digits: `1,234,567`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let rows = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
        ];
        for (value, text) in rows {
            assert_eq!(grouped(value), text);
        }
    }

    #[test]
    fn what_is_no_number_within_the_bounds_is_told_the_bounds() {
        let parse = between(1, 1_000);
        assert_eq!((parse("1"), parse("1000")), (Ok(1), Ok(1_000)));
        for text in ["", "0", "1001", "-1", "1.5", "1e2", "abc", "99999999999999999999"] {
            let expected = "a whole number between 1 and 1,000 is possible";
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
    }
}
