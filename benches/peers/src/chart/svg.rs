//! The text of a picture.

use std::fmt::{Arguments, Write};

/// The width of every picture.
pub(crate) const WIDTH: f64 = 760.0;

/// The place where axes begin on the left.
pub(crate) const LEFT: f64 = 64.0;

const STYLE: &str = "\
text { font: 12px system-ui, sans-serif; fill: #333; }
.title { font-size: 16px; font-weight: 600; }
.small { fill: #666; }
.grid { stroke: #ddd; }
.page { fill: #fff; }
.line { fill: none; stroke-width: 2; }
.dashed { stroke-dasharray: 6 4; }
.whisker { opacity: .5; }
.name { paint-order: stroke; stroke: #fff; stroke-width: 4; }
";

const DARK_STYLE: &str = "\
text { fill: #ddd; }
.small { fill: #999; }
.grid { stroke: #333; }
.page { fill: #0d1117; }
.name { stroke: #0d1117; }
";

/// The colours of the contestants on light and on dark pages, chosen so that colour-blind readers
/// can tell them apart.
const COLOURS: [[&str; 2]; 9] = [
    ["#444", "#ddd"],
    ["#777", "#aaa"],
    ["#aaa", "#777"],
    ["#d55e00", "#ff8a3d"],
    ["#3a8fc0", "#86c8ec"],
    ["#0060a0", "#4aa3e0"],
    ["#008060", "#2fd3a1"],
    ["#a0508a", "#e39cc8"],
    ["#806a00", "#e0c341"],
];

/// The class of the colour with this number, for strokes and fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Colour(pub(crate) usize);

/// A picture in the making.
pub(crate) struct Svg(String);

impl Svg {
    /// Returns a page with a title and a line below it.
    pub(crate) fn new(height: f64, title: &str, subtitle: &str) -> Self {
        let mut svg = Self(String::new());
        svg.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\">"
        ));
        let light = colours(0);
        let dark = format!("{DARK_STYLE}{}", colours(1));
        svg.add(format_args!(
            "<style>\n{STYLE}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n</style>"
        ));
        svg.add(format_args!("<rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>"));
        svg.text("title", "start", 16.0, 26.0, title);
        svg.text("small", "start", 16.0, 44.0, subtitle);
        svg
    }

    pub(crate) fn text(&mut self, class: &str, anchor: &str, x: f64, y: f64, text: &str) {
        self.add(format_args!(
            "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">\
             {text}</text>"
        ));
    }

    /// Writes text in the colour of a contestant, readable over lines.
    pub(crate) fn label(&mut self, colour: Colour, x: f64, y: f64, text: &str) {
        self.text(&format!("name f{}", colour.0), "start", x, y, text);
    }

    pub(crate) fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        let ([x1, y1], [x2, y2]) = (from, to);
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// Draws a line through all points, with a dot at each.
    pub(crate) fn curve(&mut self, colour: Colour, dashed: bool, points: &[[f64; 2]]) {
        let class = format!("line s{}{}", colour.0, if dashed { " dashed" } else { "" });
        let path: Vec<_> = points.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        self.add(format_args!("<polyline class=\"{class}\" points=\"{}\"/>", path.join(" ")));
        for [x, y] in points {
            self.add(format_args!(
                "<circle class=\"f{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>",
                colour.0
            ));
        }
    }

    pub(crate) fn bar(&mut self, colour: Colour, [x, y]: [f64; 2], width: f64, height: f64) {
        self.add(format_args!(
            "<rect class=\"f{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/>",
            colour.0
        ));
    }

    pub(crate) fn finish(mut self) -> String {
        self.add(format_args!("</svg>"));
        self.0
    }

    fn add(&mut self, element: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{element}");
    }
}

fn colours(page: usize) -> String {
    let rules = COLOURS.iter().enumerate().map(|(number, pair)| {
        let colour = pair[page];
        format!(".s{number} {{ stroke: {colour}; }} .f{number} {{ fill: {colour}; }}\n")
    });
    rules.collect()
}
