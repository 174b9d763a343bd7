//! A chart of lines as SVG, with a legend beside it.

use std::fmt::Write;

use super::axis::Axis;
use super::markup::escaped;

/// The size in units of the view, and the margins. A narrow window shows a unit as three quarters
/// of a pixel, a wide one as more than one, and both can read the labels.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = 46.0;

/// The colours and the dashes that there are; then they begin again.
const COLOURS: usize = 6;
const DASHES: usize = 4;

/// The most points that get a dot each; more of them would be a worm.
const MOST_DOTS: usize = 32;

pub(super) struct Line {
    /// Text, to be escaped.
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

pub(super) struct Plot {
    /// What the chart shows, for those who do not see it. Text, to be escaped.
    pub(super) about: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    /// A value of x that is marked, and its name.
    pub(super) mark: Option<(f64, String)>,
}

impl Plot {
    /// Returns the chart with its caption, which is markup.
    pub(super) fn figure(&self, caption: &str) -> String {
        format!(
            "<figure>{}{}<figcaption>{caption}</figcaption></figure>\n",
            self.svg(),
            self.legend()
        )
    }

    fn svg(&self) -> String {
        let about = escaped(&self.about);
        let mut out =
            format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{about}\">\n");
        self.axes(&mut out);
        self.draw_mark(&mut out);
        for (index, line) in self.lines.iter().enumerate() {
            self.draw(&mut out, index, line);
        }
        out.push_str("</svg>\n");
        out
    }

    fn axes(&self, out: &mut String) {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for (value, label) in self.y.ticks() {
            let y = self.y(value);
            let class = if y >= bottom - 0.1 { "axis" } else { "grid" };
            put(
                out,
                format_args!(
                    "<line class=\"{class}\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" \
                     y2=\"{y:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
                    LEFT - 6.0,
                    y + 4.5,
                ),
            );
        }
        for (value, label) in self.x.ticks() {
            if label.is_empty() {
                continue;
            }
            let x = self.x(value);
            put(
                out,
                format_args!(
                    "<line class=\"axis\" x1=\"{x:.1}\" y1=\"{bottom}\" x2=\"{x:.1}\" y2=\"{}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>\n",
                    bottom + 5.0,
                    bottom + 19.0,
                ),
            );
        }
        put(
            out,
            format_args!(
                "<line class=\"axis\" x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{right}\" \
                 y2=\"{bottom}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text x=\"4\" y=\"13\">{}</text>\n",
                LEFT.midpoint(right),
                HEIGHT - 8.0,
                escaped(&self.x.title),
                escaped(&self.y.title),
            ),
        );
    }

    fn draw_mark(&self, out: &mut String) {
        let Some((value, name)) = &self.mark else { return };
        let x = self.x(*value);
        // The name stands on the side that has room.
        let (anchor, text) = if x > WIDTH / 2.0 { ("end", x - 5.0) } else { ("start", x + 5.0) };
        put(
            out,
            format_args!(
                "<line class=\"mark\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{}\"/>\
             <text class=\"marked\" x=\"{text:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n",
                HEIGHT - BOTTOM,
                TOP + 12.0,
                escaped(name),
            ),
        );
    }

    fn draw(&self, out: &mut String, index: usize, line: &Line) {
        let points = || line.points.iter().map(|&(x, y)| (self.x(x), self.y(y)));
        let path: Vec<_> = points().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let (colour, dash) = (index % COLOURS, index % DASHES);
        put(
            out,
            format_args!(
                "<polyline class=\"line k{colour} d{dash}\" points=\"{}\"/>\n",
                path.join(" "),
            ),
        );
        if line.points.len() <= MOST_DOTS {
            for (x, y) in points() {
                put(
                    out,
                    format_args!(
                        "<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>",
                    ),
                );
            }
        }
    }

    fn legend(&self) -> String {
        let mut items = String::new();
        for (index, line) in self.lines.iter().enumerate() {
            let (colour, dash, name) = (index % COLOURS, index % DASHES, escaped(&line.name));
            put(
                &mut items,
                format_args!(
                    "<li><svg viewBox=\"0 0 30 10\" aria-hidden=\"true\">\
                 <line class=\"line k{colour} d{dash}\" x1=\"0\" y1=\"5\" x2=\"30\" y2=\"5\"/>\
                 </svg>\
                 {name}</li>",
                ),
            );
        }
        format!("<ul class=\"legend\">{items}</ul>\n")
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}
