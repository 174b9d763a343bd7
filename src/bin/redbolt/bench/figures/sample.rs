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
fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
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

/// From so many values on, a fifth of them is cut off at both ends.
const LEAST_TRIMMED: usize = 10;

/// A sample without its ends, ready to be compared.
struct Trimmed {
    mean: f64,
    /// The square of the error of the mean.
    error: f64,
    degrees: f64,
}

impl Trimmed {
    /// Cuts a fifth off at both ends, if there are values enough: other work on the machine makes
    /// some rounds very slow, and a few of them would hide everything. As Yuen has shown, the error
    /// is that of the sample in which the values next to a cut stand for those beyond. `None` for
    /// fewer than two values.
    fn new(values: &[f64]) -> Option<Self> {
        let cut = if values.len() < LEAST_TRIMMED { 0 } else { values.len() / 5 };
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let inner = values.get(cut..values.len() - cut)?;
        let (mean, _) = mean_and_variance(inner)?;
        let (least, most) = (*inner.first()?, *inner.last()?);
        let count = inner.len() as f64;
        let winsorized: Vec<_> = values.iter().map(|value| value.clamp(least, most)).collect();
        let (_, variance) = mean_and_variance(&winsorized)?;
        let error = variance * (values.len() as f64 - 1.0) / (count * (count - 1.0));
        Some(Self { mean, error, degrees: count - 1.0 })
    }
}

/// Returns the mean of a sample, without its ends where there are values enough.
pub(crate) fn center(values: &[f64]) -> Option<f64> {
    Trimmed::new(values).map(|sample| sample.mean).or_else(|| values.first().copied())
}

/// Returns the difference of the means of two samples, and the half width of its interval with 99 %
/// confidence: by Welch, because the samples may have different variances and numbers, and by Yuen
/// for those that are trimmed. `None` where one sample has fewer than two values.
pub(crate) fn difference(before: &[f64], after: &[f64]) -> Option<(f64, f64)> {
    let (before, after) = (Trimmed::new(before)?, Trimmed::new(after)?);
    let difference = after.mean - before.mean;
    let error = before.error + after.error;
    if error == 0.0 {
        return Some((difference, 0.0));
    }
    let share = |sample: &Trimmed| sample.error.powi(2) / sample.degrees;
    let degrees = error.powi(2) / (share(&before) + share(&after));
    Some((difference, t_995(degrees) * error.sqrt()))
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
        let (found, half) = difference(&before, &after).expect("five values each");
        assert_eq!(found, 10.0);
        // The error is the root of 0.5 + 2; 6.25 / (0.25 / 4 + 4 / 4) is 5.88 degrees.
        assert!((half - 4.032 * 2.5_f64.sqrt()).abs() < 1e-9, "{half}");
        assert_eq!(difference(&[1.0, 1.0], &[2.0, 2.0]), Some((1.0, 0.0)));
        assert_eq!(difference(&[1.0], &after), None);
    }

    #[test]
    fn a_few_wild_rounds_do_not_hide_a_change() {
        let calm: Vec<f64> = (0..20).map(|round| f64::from(round % 5) / 100.0).collect();
        let mut wild = calm.clone();
        (wild[3], wild[11], wild[17]) = (9.0, 7.0, -8.0);
        let worse: Vec<f64> = wild.iter().map(|value| value + 0.1).collect();
        let (found, half) = difference(&wild, &worse).expect("twenty values each");
        assert!((found - 0.1).abs() < 1e-9 && half < 0.05, "{found} ± {half}");
        assert!((center(&wild).unwrap_or_default() - 0.02).abs() < 0.01);
        assert_eq!((center(&[3.0]), center(&[])), (Some(3.0), None));
        // Nine values are too few to leave any out.
        assert!(center(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0]) == Some(1.0));
    }
}
