//! Puts entries into the lists of a document, in its own indentation and line ends.

use super::outline::Node;
use std::ops::Range;

/// A document and the changes to it.
pub(super) struct Splice<'a> {
    text: &'a str,
    root: &'a Node,
    /// The indentation of one level.
    unit: String,
    line_end: &'static str,
    /// Lists that the document lacks, in order.
    lists: String,
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Splice<'a> {
    pub(super) fn new(text: &'a str, root: &'a Node) -> Self {
        let unit = root.children.first().and_then(|child| indentation(text, child.all.start)).unwrap_or("");
        let unit = if unit.is_empty() { "  ".to_owned() } else { unit.to_owned() };
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { text, root, unit, line_end, lists: String::new(), edits: Vec::new() }
    }

    /// Adds entries to `list`, which is named so.
    pub(super) fn add(&mut self, list: Option<&Node>, name: &str, entries: &[&str]) {
        if entries.is_empty() {
            return;
        }
        let Some(list) = list else {
            let inside =
                entries.iter().fold(String::new(), |all, entry| all + &self.indented(entry, &self.unit.repeat(2)));
            let (unit, end) = (&self.unit, self.line_end);
            self.lists += &format!("{end}{unit}<{name}>{inside}{end}{unit}</{name}>");
            return;
        };
        let outer = indentation(self.text, list.all.start).unwrap_or(&self.unit).to_owned();
        let inner = list.children.first().and_then(|child| indentation(self.text, child.all.start));
        let inner = inner.map_or_else(|| format!("{outer}{}", self.unit), str::to_owned);
        let inside = entries.iter().fold(String::new(), |all, entry| all + &self.indented(entry, &inner));
        self.put(list, inside, &outer);
    }

    /// The changed document, and what was added: each with its place in the former one.
    pub(super) fn done(mut self) -> (String, Vec<(usize, String)>) {
        if !self.lists.is_empty() {
            let lists = std::mem::take(&mut self.lists);
            let outer = indentation(self.text, self.root.all.start).unwrap_or_default().to_owned();
            self.put(self.root, lists, &outer);
        }
        self.edits.sort_by_key(|(place, _)| place.start);
        let (mut changed, mut from) = (String::with_capacity(self.text.len()), 0);
        for (place, new) in &self.edits {
            changed += &self.text[from..place.start];
            changed += new;
            from = place.end;
        }
        changed += &self.text[from..];
        (changed, self.edits.into_iter().map(|(place, new)| (place.start, new)).collect())
    }

    /// Puts lines at the end of an element.
    fn put(&mut self, element: &Node, lines: String, outer: &str) {
        let end = self.line_end;
        let Some(inside) = &element.inside else {
            let tag = &self.text[element.all.clone()];
            let tag = tag.strip_suffix("/>").unwrap_or(tag).trim_end();
            let new = format!("{tag}>{lines}{end}{outer}</{}>", element.name);
            self.edits.push((element.all.clone(), new));
            return;
        };
        let at = inside.start + self.text[inside.clone()].trim_end().len();
        let closes_line = self.text[at..inside.end].contains('\n');
        let new = if closes_line { lines } else { format!("{lines}{end}{outer}") };
        self.edits.push((at..at, new));
    }

    /// An entry of a document that is indented by two spaces, on lines of its own.
    fn indented(&self, entry: &str, indentation: &str) -> String {
        let mut lines = entry.lines();
        let mut all = format!("{}{indentation}{}", self.line_end, lines.next().unwrap_or_default());
        let lines: Vec<&str> = lines.collect();
        let depth = |line: &str| (line.len() - line.trim_start().len()) / 2;
        let base = lines.last().map_or(0, |line| depth(line));
        for line in lines {
            let deeper = self.unit.repeat(depth(line).saturating_sub(base));
            all += &format!("{}{indentation}{deeper}{}", self.line_end, line.trim());
        }
        all
    }
}

/// The white space before an element that begins its line.
fn indentation(text: &str, place: usize) -> Option<&str> {
    let line = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..place];
    before.trim_start_matches('\u{feff}').trim().is_empty().then(|| before.trim_start_matches('\u{feff}'))
}
