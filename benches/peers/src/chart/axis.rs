//! Axes: the way from values to places.

/// One axis: its range, and the places of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    least: f64,
    most: f64,
    /// Whether equal factors are equally long, instead of equal differences.
    is_logarithmic: bool,
    pub(crate) ticks: Vec<f64>,
}

impl Axis {
    /// Returns a logarithmic axis around all values, with a line at every doubling of the least
    /// value, or `None` if there are no values above zero.
    pub(crate) fn doubling(values: &[f64]) -> Option<Self> {
        let (least, most) = range(values)?;
        let doublings = ((most / least).log2() - 1e-9).ceil().max(1.0) as i32;
        let ticks = (0..=doublings).map(|power| least * 2_f64.powi(power)).collect();
        (least > 0.0).then(|| Self::over(ticks, true))
    }

    /// Returns a logarithmic axis around all values, with lines at 1, 2, 5, 10, 20, …, or `None` if
    /// there are no values above zero.
    pub(crate) fn decades(values: &[f64]) -> Option<Self> {
        let (least, most) = range(values)?;
        let powers = least.log10().floor() as i32..=most.log10().floor() as i32 + 1;
        let all: Vec<f64> = powers
            .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)))
            .collect();
        let first = all.iter().rposition(|&tick| tick <= least)?;
        let last = all.iter().position(|&tick| tick >= most)?;
        (least > 0.0).then(|| Self::over(all[first..=last.max(first + 1)].to_vec(), true))
    }

    /// Returns a linear axis from zero to above all values.
    pub(crate) fn from_zero(values: &[f64]) -> Option<Self> {
        let (_, most) = range(values)?;
        let rough = most / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power);
        let step = step.into_iter().find(|&step| step >= rough).unwrap_or(rough);
        let ticks = (0..=(most / step).ceil() as u32).map(|n| f64::from(n) * step).collect();
        Some(Self::over(ticks, false))
    }

    fn over(ticks: Vec<f64>, is_logarithmic: bool) -> Self {
        let (least, most) = range(&ticks).unwrap_or((0.0, 1.0));
        Self { least, most, is_logarithmic, ticks }
    }

    /// Returns the place of a value, from 0 at the low end to 1 at the high one.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_logarithmic { value.ln() } else { value };
        (scale(value) - scale(self.least)) / (scale(self.most) - scale(self.least))
    }
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    Some((least, most))
}

/// Writes a value as `0`, `512`, `5k`, `125k`, `0.5`.
pub(crate) fn short(value: f64) -> String {
    if value >= 10_000.0 || (value >= 1_000.0 && value % 1_000.0 == 0.0) {
        format!("{}k", (value / 100.0).round() / 10.0)
    } else {
        format!("{}", (value * 100.0).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_equal_steps() {
        let axis = Axis::doubling(&[1.0, 1024.0]).expect("values");
        assert_eq!(axis.ticks.len(), 11);
        assert!((axis.place(32.0) - 0.5).abs() < 1e-9);
        let axis = Axis::decades(&[60.0, 900.0]).expect("values");
        assert_eq!(axis.ticks, [50.0, 100.0, 200.0, 500.0, 1000.0]);
        assert!(Axis::decades(&[0.0]).is_none());
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_above_all() {
        let axis = Axis::from_zero(&[130_000.0, 70_000.0]).expect("values");
        assert_eq!(axis.ticks, [0.0, 50_000.0, 100_000.0, 150_000.0]);
        assert_eq!(axis.place(75_000.0), 0.5);
        assert!(Axis::from_zero(&[]).is_none());
    }

    #[test]
    fn figures_are_short() {
        let rows = [(0.0, "0"), (512.0, "512"), (5_000.0, "5k"), (1_024.0, "1024"), (0.5, "0.5")];
        for (value, text) in rows {
            assert_eq!(short(value), text);
        }
    }
}
