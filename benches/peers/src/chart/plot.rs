//! Plots: lines over two axes.

use super::axis::{Axis, short};
use super::svg::{Colour, LEFT, Svg, WIDTH};

const TOP: f64 = 70.0;
const HEIGHT: f64 = 440.0;
const BOTTOM: f64 = HEIGHT - 50.0;

/// Room for the names of the lines.
const RIGHT: f64 = WIDTH - 130.0;

/// The least distance between the names of two lines.
const APART: f64 = 15.0;

pub(crate) struct Plot {
    pub(crate) title: &'static str,
    pub(crate) subtitle: &'static str,
    pub(crate) x: Axis,
    pub(crate) x_title: &'static str,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
}

pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) colour: Colour,
    pub(crate) dashed: bool,
    pub(crate) points: Vec<Point>,
}

pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The least and the greatest measured value.
    pub(crate) spread: Option<[f64; 2]>,
}

impl Plot {
    pub(crate) fn draw(&self) -> String {
        let mut svg = Svg::new(HEIGHT, self.title, self.subtitle);
        self.draw_axes(&mut svg);
        for line in &self.lines {
            self.draw_line(&mut svg, line);
        }
        self.draw_labels(&mut svg);
        svg.finish()
    }

    fn draw_axes(&self, svg: &mut Svg) {
        for &tick in &self.y.ticks {
            let y = self.y_of(tick);
            svg.line("grid", [LEFT, y], [RIGHT, y]);
            svg.text("small", "end", LEFT - 8.0, y + 4.0, &short(tick));
        }
        for &tick in &self.x.ticks {
            let x = self.x_of(tick);
            svg.line("grid", [x, BOTTOM], [x, BOTTOM + 5.0]);
            svg.text("small", "middle", x, BOTTOM + 20.0, &short(tick));
        }
        svg.text("small", "middle", LEFT.midpoint(RIGHT), BOTTOM + 40.0, self.x_title);
    }

    fn draw_line(&self, svg: &mut Svg, line: &Line) {
        for point in &line.points {
            if let Some(ends) = point.spread {
                let x = self.x_of(point.x);
                let [least, most] = ends.map(|end| [x, self.y_of(end)]);
                svg.line(&format!("whisker s{}", line.colour.0), least, most);
            }
        }
        let points: Vec<_> =
            line.points.iter().map(|point| [self.x_of(point.x), self.y_of(point.y)]).collect();
        svg.curve(line.colour, line.dashed, &points);
    }

    /// Writes the name of each line behind its last point. Names that would overlap move down.
    fn draw_labels(&self, svg: &mut Svg) {
        let mut labels: Vec<([f64; 2], &Line)> = Vec::new();
        for line in &self.lines {
            if let Some(last) = line.points.last() {
                labels.push(([self.x_of(last.x), self.y_of(last.y)], line));
            }
        }
        labels.sort_by(|([_, a], _), ([_, b], _)| a.total_cmp(b));
        let mut free = f64::MIN;
        for ([x, y], line) in labels {
            let y = y.max(free);
            svg.label(line.colour, x + 10.0, y + 4.0, &line.label);
            free = y + APART;
        }
    }

    fn x_of(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * self.x.place(value)
    }

    fn y_of(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * self.y.place(value)
    }
}
