//! The arithmetic of a few measurements of the same thing.
//!
//! One quantile of Student's t is all that is needed of a library of statistics: a table of thirty
//! numbers, which a test computes, costs less than a dependency that others have to trust.

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
    fn quantiles_leave_one_hundredth_outside() {
        for degrees in 1..=200 {
            let outside = 1.0 - within(t_995(f64::from(degrees)), degrees);
            // The table has three decimals. What is beyond makes the interval a little too wide.
            let most = if degrees as usize <= T_995.len() { 0.01 + 2e-5 } else { 0.01 };
            assert!((0.01 - 1e-4..=most).contains(&outside), "{degrees}: {outside}");
        }
        assert_eq!((t_995(4.9), t_995(0.0)), (4.604, 63.657));
        assert!((t_995(1e9) - 2.576).abs() < 1e-6);
    }

    /// The probability that Student's t with so many degrees of freedom lies within ±`t`, by the
    /// finite sums of Abramowitz and Stegun (26.7.3 and 26.7.4).
    fn within(t: f64, degrees: i32) -> f64 {
        let angle = (t / f64::from(degrees).sqrt()).atan();
        let (is_odd, cosine) = (degrees % 2 == 1, angle.cos());
        let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
        let first = if is_odd { 1 } else { 0 };
        for power in (first..degrees - 1).step_by(2) {
            sum += term;
            term *= cosine.powi(2) * f64::from(power + 1) / f64::from(power + 2);
        }
        let product = angle.sin() * sum;
        if is_odd { (angle + product) * std::f64::consts::FRAC_2_PI } else { product }
    }

    #[test]
    fn intervals_are_those_of_the_books() {
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
    fn a_trimmed_interval_is_that_of_scipy() {
        let before = [-1.3, 0.4, 0.7, 1.1, 1.2, 1.9, 2.0, 2.2, 2.9, 3.5, 9.0, 14.0];
        let after = [0.2, 0.9, 1.6, 1.8, 2.6, 3.1, 3.3, 3.9, 4.4, 4.8, 5.9, -20.0];
        let (found, half) = difference(&before, &after).expect("twelve values each");
        // `scipy.stats.ttest_ind(after, before, equal_var=False, trim=0.2)`: 13.32 degrees.
        let (expected, error) = (0.7625, 0.807_396_978_538);
        assert!((found - expected).abs() < 1e-12, "{found}");
        assert!((half - 3.012 * error).abs() < 1e-9, "{half}");
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
