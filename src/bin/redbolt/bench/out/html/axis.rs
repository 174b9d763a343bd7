//! The axes of a chart: where a value stands, and which values have a tick.

/// The most ticks of an axis: their labels must not touch in a narrow window.
const MOST_TICKS: f64 = 6.0;

/// The least and the greatest value of an axis, and how those between are laid out.
pub(super) struct Axis {
    scale: Scale,
    least: f64,
    most: f64,
    pub(super) title: String,
    label: fn(f64) -> String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// From zero.
    Linear,
    /// Values of zero and less have no place, and stand at the beginning.
    Log,
}

impl Axis {
    /// An axis for these values, which ends at a round number.
    pub(super) fn new(
        scale: Scale,
        values: impl Iterator<Item = f64>,
        title: &str,
        label: fn(f64) -> String,
    ) -> Self {
        let values = values.filter(|value| value.is_finite() && *value > 0.0);
        let (least, most) = values
            .fold((f64::MAX, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        let (least, most) = if most > 0.0 { (least, most) } else { (1.0, 10.0) };
        let (least, most) = match scale {
            Scale::Linear => (0.0, (most / step(most)).ceil() * step(most)),
            Scale::Log => {
                let least = 10_f64.powf((least.log10() * 3.0).floor() / 3.0);
                (least, (10_f64.powf((most.log10() * 3.0).ceil() / 3.0)).max(least * 10.0))
            }
        };
        Self { scale, least, most, title: title.to_owned(), label }
    }

    /// Returns the place of a value, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Linear => value / self.most,
            Scale::Log => {
                let from_least = |value: f64| (value.max(self.least) / self.least).ln();
                from_least(value) / from_least(self.most)
            }
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the values with a tick, and their labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values: Vec<f64> = match self.scale {
            Scale::Linear => {
                let step = step(self.most);
                let count = (self.most / step).round() as u32;
                (0..=count).map(|index| f64::from(index) * step).collect()
            }
            Scale::Log => self.log_ticks(),
        };
        values.into_iter().map(|value| (value, (self.label)(value))).collect()
    }

    /// Powers of ten, with what is between where there are few of them. An axis of nanoseconds to
    /// hours has fourteen.
    fn log_ticks(&self) -> Vec<f64> {
        let (low, high) = (self.least.log10().floor() as i32, self.most.log10().ceil() as i32);
        let decades = (self.most / self.least).log10();
        let within: &[f64] = match decades {
            _ if decades <= 1.5 => &[1.0, 2.0, 5.0],
            _ if decades <= 3.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let ticks =
            (low..=high).flat_map(|power| within.iter().map(move |n| n * 10_f64.powi(power)));
        // A rounding error must not cost the first or the last tick.
        let (least, most) = (self.least * 0.999, self.most * 1.001);
        ticks.filter(|tick| (least..=most).contains(tick)).collect()
    }
}

/// Returns the distance of the ticks of an axis from zero to `most`: 1, 2 or 5 by a power of ten.
fn step(most: f64) -> f64 {
    let rough = most / MOST_TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= rough);
    step.unwrap_or(10.0) * power
}

/// Returns a number as a tick has room for it: `150k`.
pub(super) fn short(value: f64) -> String {
    let (value, unit) = match value {
        _ if value >= 1e6 => (value / 1e6, "M"),
        _ if value >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded}{unit}")
}

/// Returns microseconds as a tick has room for them: `2 ms`.
pub(super) fn micros(value: f64) -> String {
    let (value, unit) = match value {
        _ if value >= 1e6 => (value / 1e6, "s"),
        _ if value >= 1e3 => (value / 1e3, "ms"),
        _ => (value, "µs"),
    };
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64], label: fn(f64) -> String) -> String {
        let axis = Axis::new(scale, values.iter().copied(), "", label);
        axis.ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_numbers_that_cover_all_values() {
        let rows = [
            (Scale::Linear, &[3.0, 148_439.0][..], "0 50k 100k 150k"),
            (Scale::Linear, &[1.0], "0 0.2 0.4 0.6 0.8 1"),
            (Scale::Linear, &[], "0 2 4 6 8 10"),
            (Scale::Linear, &[f64::NAN, 7.0], "0 2 4 6 8"),
            (Scale::Log, &[1.0, 1_024.0], "1 10 100 1k"),
            (Scale::Log, &[50.0, 60.0], "50 100 200"),
            (Scale::Log, &[0.0, 8.0, 256.0], "10 30 100 300"),
        ];
        for (scale, values, expected) in rows {
            let is_log = scale == Scale::Log;
            assert_eq!(labels(scale, values, short), expected, "{values:?} log {is_log}");
        }
        assert_eq!(labels(Scale::Log, &[400.0, 2e6], micros), "1 ms 10 ms 100 ms 1 s");
    }

    #[test]
    fn a_value_stands_between_the_ends() {
        let linear = Axis::new(Scale::Linear, [10.0].into_iter(), "", short);
        let log = Axis::new(Scale::Log, [1.0, 100.0].into_iter(), "", short);
        assert_eq!(
            [0.0, 5.0, 10.0, 20.0, -1.0].map(|v| linear.place(v)),
            [0.0, 0.5, 1.0, 1.0, 0.0]
        );
        assert_eq!([0.0, 1.0, 10.0, 100.0, 1e9].map(|v| log.place(v)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(linear.place(f64::NAN), 0.0);
    }
}
