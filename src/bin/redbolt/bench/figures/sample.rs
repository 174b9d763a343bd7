//! The arithmetic of a few measurements of the same thing.

/// Returns the median; `None` for no values. Of an even number, the mean of the two in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) =
        (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

/// Returns the mean and the variance of a sample; `None` for fewer than two values.
pub(crate) fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0)))
}

/// The quantile 0.995 of Student's t for 1, 2, 3 … degrees of freedom: the half width of an
/// interval with 99 % confidence, in standard errors.
const T_995: [f64; 30] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012,
    2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779,
    2.771, 2.763, 2.756, 2.750,
];

/// The same for so many degrees that more make little difference, and for any number.
const T_995_NORMAL: f64 = 2.576;

/// Returns the quantile for so many degrees of freedom. A fraction is rounded down, which makes the
/// interval wider. Beyond the table, the quantile goes on as 1 / degrees.
fn t_995(degrees: f64) -> f64 {
    let last = T_995.len();
    let place = (degrees.floor() as usize).max(1);
    match T_995.get(place - 1) {
        Some(quantile) => *quantile,
        None => T_995_NORMAL + (T_995[last - 1] - T_995_NORMAL) * last as f64 / place as f64,
    }
}

/// Returns the difference of the means of two samples, and the half width of its interval with 99 %
/// confidence, by Welch: the samples may have different variances and numbers. `None` where one
/// sample has fewer than two values.
pub(crate) fn welch(before: &[f64], after: &[f64]) -> Option<(f64, f64)> {
    let (before_mean, before_variance) = mean_and_variance(before)?;
    let (after_mean, after_variance) = mean_and_variance(after)?;
    let [a, b] = [(before_variance, before), (after_variance, after)]
        .map(|(variance, values)| variance / values.len() as f64);
    let error = (a + b).sqrt();
    if error == 0.0 {
        return Some((after_mean - before_mean, 0.0));
    }
    let [m, n] = [before, after].map(|values| values.len() as f64 - 1.0);
    let degrees = (a + b).powi(2) / (a * a / m + b * b / n);
    Some((after_mean - before_mean, t_995(degrees) * error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        let rows: [(&[f64], Option<f64>); 4] = [
            (&[], None),
            (&[3.0], Some(3.0)),
            (&[4.0, 1.0], Some(2.5)),
            (&[9.0, 1.0, 2.0], Some(2.0)),
        ];
        for (values, expected) in rows {
            assert_eq!(median(values.iter().copied()), expected);
        }
    }

    #[test]
    fn intervals_are_those_of_the_books() {
        // Student's own quantiles, and between 40 and 60 degrees 2.704 and 2.660.
        let rows = [(1.0, 63.657), (4.9, 4.604), (30.0, 2.750), (40.0, 2.704), (60.0, 2.660)];
        for (degrees, quantile) in rows {
            assert!((t_995(degrees) - quantile).abs() < 0.006, "{degrees}: {}", t_995(degrees));
        }
        assert!((t_995(1e9) - 2.576).abs() < 1e-6);
        // Worked by hand: means 3 and 13, variances 2.5 and 10, five values each.
        let (before, after) = ([1.0, 2.0, 3.0, 4.0, 5.0], [9.0, 11.0, 13.0, 15.0, 17.0]);
        let (difference, half) = welch(&before, &after).expect("five values each");
        assert_eq!(difference, 10.0);
        // The error is the root of 0.5 + 2; 6.25 / (0.25 / 4 + 4 / 4) is 5.88 degrees.
        assert!((half - 4.032 * 2.5_f64.sqrt()).abs() < 1e-9, "{half}");
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]), Some((1.0, 0.0)));
        assert_eq!(welch(&[1.0], &after), None);
    }
}
