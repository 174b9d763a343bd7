//! Bars: values side by side.

use super::svg::{Colour, Svg, WIDTH};

const TOP: f64 = 64.0;
const LEFT: f64 = 120.0;
const STEP: f64 = 34.0;
const THICK: f64 = 22.0;

/// Room for the figure behind the longest bar.
const RIGHT: f64 = 80.0;

/// Draws bars from zero, each with its figure. Returns `None` if there are none.
pub(crate) fn draw(title: &str, subtitle: &str, bars: &[(&str, Colour, f64)]) -> Option<String> {
    let most = bars.iter().map(|&(_, _, value)| value).max_by(f64::total_cmp)?;
    let mut svg = Svg::new(TOP + STEP * bars.len() as f64 + 10.0, title, subtitle);
    for (index, &(name, colour, value)) in bars.iter().enumerate() {
        let y = TOP + STEP * index as f64;
        let width = (WIDTH - LEFT - RIGHT) * value / most;
        svg.text("", "end", LEFT - 10.0, y + 16.0, name);
        svg.bar(colour, [LEFT, y], width, THICK);
        svg.text("", "start", LEFT + width + 8.0, y + 16.0, &format!("{value:.2}"));
    }
    Some(svg.finish())
}
