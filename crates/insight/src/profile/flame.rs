//! The flame graph of a profile as SVG: no script, and the same in light and dark.

use super::Profile;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The width of the picture, and the height of a row, in units of the picture.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 22.0;
/// The width of a character. Widths of fonts differ, so this is a wide one.
const CHARACTER: f64 = 7.2;
/// Frames that are narrower are not drawn.
const NARROWEST: f64 = 0.3;
/// Space above the frames, for the heading.
const HEAD: f64 = 56.0;

/// Fills have at least 4.5:1 to the text on them (WCAG 2.1, 1.4.3) in both schemes.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1a1a1a}.b{fill:#fff}rect.f{stroke:#fff;stroke-width:1}\
.l0{fill:#d9dde3}.l1{fill:#f6c9a0}.l2{fill:#f3dc93}.l3{fill:#b9dfb4}.l4{fill:#b5d5ee}\
@media(prefers-color-scheme:dark){text{fill:#f0f0f0}.b{fill:#16181c}rect.f{stroke:#16181c}\
.l0{fill:#3a4150}.l1{fill:#7a4520}.l2{fill:#66541a}.l3{fill:#2c5a33}.l4{fill:#24506f}}";

/// A frame, with all that is below it.
#[derive(Default)]
struct Frame<'a> {
    nanos: u64,
    below: BTreeMap<&'a str, Frame<'a>>,
}

impl<'a> Frame<'a> {
    fn add(&mut self, frames: &'a [String], nanos: u64) {
        self.nanos += nanos;
        if let Some((first, rest)) = frames.split_first() {
            self.below.entry(first).or_default().add(rest, nanos);
        }
    }

    fn depth(&self) -> usize {
        1 + self.below.values().map(Frame::depth).max().unwrap_or(0)
    }
}

/// Draws the profile.
pub(super) fn svg(profile: &Profile, perf: &str) -> String {
    let mut root = Frame::default();
    profile.stacks.iter().for_each(|stack| root.add(&stack.frames, stack.nanos));
    let height = HEAD + ROW * root.depth() as f64 + 64.0;
    let seconds = root.nanos as f64 / 1e9;
    let title = format!("Daylight used {seconds:.2} s of processor time in {:.0} s", profile.seconds);
    let most = profile.stacks.iter().take(5);
    let most: Vec<String> =
        most.map(|stack| format!("{}: {}", stack.frames.join(", "), share(stack.nanos, root.nanos))).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"title about\" lang=\"en\">\
        <title id=\"title\">{}</title><desc id=\"about\">A flame graph: thread, cost class, operation, repository. The most: {}.</desc>\
        <style>{STYLE}</style><rect class=\"b\" width=\"{WIDTH}\" height=\"{height}\"/>\
        <text x=\"8\" y=\"22\" font-weight=\"600\">{}</text>\
        <text x=\"8\" y=\"42\">From the top: thread, cost class, operation, repository. The width is time on a processor. {} samples of each thread.</text>",
        escape(&title),
        escape(&most.join("; ")),
        escape(&title),
        profile.samples,
    );
    draw(&root, "all threads", (0.0, WIDTH), 0, root.nanos.max(1), &mut svg);
    let foot = height - 34.0;
    let _ = writeln!(
        svg,
        "<text x=\"8\" y=\"{foot}\">Functions instead of operations, on the machine of the server: {}</text></svg>",
        escape(perf)
    );
    svg
}

/// Draws a frame from `at.0` to `at.1`, and all below it.
fn draw(frame: &Frame<'_>, name: &str, at: (f64, f64), level: usize, all: u64, svg: &mut String) {
    let (x, width, y) = (at.0, at.1 - at.0, HEAD + ROW * level as f64);
    if width < NARROWEST {
        return;
    }
    let about = format!("{name}: {}, {:.3} s", share(frame.nanos, all), frame.nanos as f64 / 1e9);
    let _ = write!(
        svg,
        "<g><title>{}</title><rect class=\"f l{}\" x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{ROW}\"/>",
        escape(&about),
        level.min(4)
    );
    let fits = ((width - 8.0) / CHARACTER).max(0.0) as usize;
    let text = [format!("{name} {}", share(frame.nanos, all)), name.to_owned()];
    let text = text.into_iter().find(|text| text.chars().count() <= fits);
    let cut = || (fits > 3).then(|| format!("{}…", name.chars().take(fits - 1).collect::<String>()));
    if let Some(text) = text.or_else(cut) {
        let _ = write!(svg, "<text x=\"{:.2}\" y=\"{}\">{}</text>", x + 4.0, y + 15.0, escape(&text));
    }
    svg.push_str("</g>");
    let mut below: Vec<_> = frame.below.iter().collect();
    below.sort_by_key(|(name, frame)| (std::cmp::Reverse(frame.nanos), **name));
    let mut from = x;
    for (name, inner) in below {
        let to = from + width * inner.nanos as f64 / frame.nanos.max(1) as f64;
        draw(inner, name, (from, to), level + 1, all, svg);
        from = to;
    }
}

fn share(nanos: u64, all: u64) -> String {
    format!("{:.1} %", nanos as f64 * 100.0 / all.max(1) as f64)
}

/// Text as XML has it. Characters that XML does not have, or that hide or reorder text, are replaced.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if telemetry::is_unseen(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Stack;

    fn profile(stacks: &[(&[&str], u64)]) -> Profile {
        let stack = |(frames, nanos): &(&[&str], u64)| Stack {
            frames: frames.iter().map(|&frame| frame.to_owned()).collect(),
            nanos: *nanos,
            samples: 1,
        };
        Profile { seconds: 10.0, samples: 990, stacks: stacks.iter().map(stack).collect() }
    }

    #[test]
    fn frames_are_as_wide_as_their_time_and_lie_below_the_frame_that_they_are_part_of() {
        let svg = profile(&[(&["core", "downloads", "blob.open", "gems"], 750), (&["worker", "index.render"], 250)])
            .svg("perf");
        for width in
            ["width=\"1200.00\"", "x=\"0.00\" y=\"78\" width=\"900.00\"", "x=\"900.00\" y=\"78\" width=\"300.00\""]
        {
            assert!(svg.contains(width), "{width} in {svg}");
        }
        assert_eq!(svg.matches("<g>").count(), 7);
        assert!(svg.contains("<title>blob.open: 75.0 %, 0.000 s</title>"), "{svg}");
    }

    #[test]
    fn names_are_text_and_nothing_else_and_the_picture_has_no_script() {
        let svg = profile(&[(&["<script>alert(1)</script>\u{1}\u{202e}\"&"], 1)]).svg("perf record -p 1 <x>");
        assert!(!svg.contains("<script") && !svg.contains('\u{1}') && !svg.contains('\u{202e}'), "{svg}");
        assert!(svg.contains("&lt;script&gt;") && svg.contains("perf record -p 1 &lt;x&gt;"), "{svg}");
    }

    #[test]
    fn nothing_at_all_is_a_picture_too() {
        assert!(Profile::default().svg("perf").contains("Daylight used 0.00 s"));
    }
}
