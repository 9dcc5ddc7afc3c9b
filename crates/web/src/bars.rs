//! Small charts of bars, as inline SVG with a sentence that says the same.

use std::fmt::Write as _;

/// The width of a place and of its bar, and the height of a chart, in its own units.
const PLACE: usize = 10;
const BAR: usize = 8;
const HEIGHT: f64 = 40.0;
/// The least height of a bar that is not 0.
const LEAST: f64 = 0.8;

/// A chart with one or two values for each stretch of time: the second is a part of the first.
#[derive(Debug, Clone, Default)]
pub struct Bars {
    /// The name of the values.
    pub name: String,
    /// The figure of the whole time, in words.
    pub total: String,
    /// The stretches, the oldest first, each with its values. `None`: there are none.
    pub values: Vec<(Option<f64>, Option<f64>)>,
    /// The largest value, in words.
    pub most: String,
    /// The sentence that says what the bars show.
    pub about: String,
}

impl Bars {
    /// The extent of the drawing.
    pub(crate) fn view(&self) -> String {
        format!("0 0 {} {HEIGHT}", self.values.len().max(1) * PLACE)
    }

    /// The bars. They have no text, so nothing in them needs an escape.
    pub(crate) fn drawing(&self) -> String {
        let numbers = self.values.iter().filter_map(|(whole, _)| *whole).filter(|value| value.is_finite());
        let most = numbers.fold(0.0, f64::max);
        let mut drawing = String::new();
        for (at, (whole, part)) in self.values.iter().enumerate() {
            for (value, class) in [(whole, "whole"), (part, "part")] {
                let Some(height) = value.and_then(|value| height(value, most)) else { continue };
                let (x, y) = (at * PLACE + (PLACE - BAR) / 2, HEIGHT - height);
                let _ = write!(
                    drawing,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{y:.2}\" width=\"{BAR}\" height=\"{height:.2}\"/>"
                );
            }
        }
        drawing
    }
}

/// `None`: there is nothing to draw.
fn height(value: f64, most: f64) -> Option<f64> {
    let is_drawn = value > 0.0 && value.is_finite() && most > 0.0;
    is_drawn.then(|| (value / most * HEIGHT).clamp(LEAST, HEIGHT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bar_has_the_whole_height_and_others_their_part_of_it() {
        let bars = Bars {
            values: vec![(Some(10.0), Some(2.5)), (None, None), (Some(0.0), None), (Some(0.001), None)],
            ..Bars::default()
        };
        assert_eq!(bars.view(), "0 0 40 40");
        let drawn = bars.drawing();
        for bar in [
            "class=\"whole\" x=\"1\" y=\"0.00\" width=\"8\" height=\"40.00\"",
            "class=\"part\" x=\"1\" y=\"30.00\" width=\"8\" height=\"10.00\"",
            "x=\"31\" y=\"39.20\" width=\"8\" height=\"0.80\"",
        ] {
            assert!(drawn.contains(bar), "{bar}: {drawn}");
        }
        assert_eq!(drawn.matches("<rect").count(), 3);
    }

    #[test]
    fn values_that_are_no_amounts_draw_nothing() {
        for odd in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            assert_eq!(Bars { values: vec![(Some(odd), None)], ..Bars::default() }.drawing(), "", "{odd}");
        }
        assert_eq!(Bars::default().view(), "0 0 10 40");
    }
}
