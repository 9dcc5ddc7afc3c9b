//! The elements of a settings file with their places in its text, so that lines can be added and all others stay as they are.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use std::ops::Range;

/// The most elements that are read, and the deepest.
const ELEMENTS: usize = 20_000;
const DEPTH: usize = 50;

/// An element. Places are in bytes.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    /// Its own text, with entities resolved.
    text: String,
    /// The whole element.
    pub(super) all: Range<usize>,
    /// The place between its tags; `None`: it is one tag, as in `<mirrors/>`.
    pub(super) inside: Option<Range<usize>>,
    pub(super) children: Vec<Node>,
}

/// The parser's own words would quote what stands there, which may be a password with a `<` in it.
const MALFORMED: &str = "it is not well-formed XML: a tag has no end, or an end tag is not of the element that is open";

/// Why a text is no settings file: the place, in bytes, and the reason.
pub(super) type Broken = (usize, String);

impl Node {
    /// Reads a document with the root `settings`.
    pub(super) fn read(text: &str) -> Result<Self, Broken> {
        let before = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
        let mut reader = Reader::from_str(&text[before..]);
        let place = |position: u64| before + usize::try_from(position).unwrap_or(0);
        let (mut open, mut count) = (vec![Self::default()], 0);
        loop {
            let start = place(reader.buffer_position());
            let event = reader.read_event().map_err(|_| (place(reader.error_position()), MALFORMED.to_owned()))?;
            let end = place(reader.buffer_position());
            let named = |tag: &BytesStart<'_>, inside| Self {
                name: tag.name().as_ref().to_owned(),
                all: start..end,
                inside,
                ..Self::default()
            };
            match event {
                Event::Start(tag) => open.push(named(&tag, Some(end..end))),
                Event::Empty(tag) => adopt(&mut open, named(&tag, None)),
                Event::End(_) => {
                    let Some(mut node) = open.pop().filter(|_| !open.is_empty()) else {
                        return Err((start, "an end tag without a start tag".to_owned()));
                    };
                    node.all.end = end;
                    node.inside = node.inside.map(|inside| inside.start..start);
                    adopt(&mut open, node);
                }
                Event::Text(said) => say(&mut open, &said.xml10_content(), start)?,
                Event::CData(said) => say(&mut open, &said.xml10_content(), start)?,
                Event::GeneralRef(reference) => {
                    let (character, name) = (reference.resolve_char_ref(), reference.xml10_content());
                    match (character, resolve_predefined_entity(&name)) {
                        (Ok(Some(character)), _) => say(&mut open, &character.to_string(), start)?,
                        (_, Some(said)) => say(&mut open, said, start)?,
                        _ => say(&mut open, &format!("&{name};"), start)?,
                    }
                }
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
            count += 1;
            if count > 4 * ELEMENTS || open.len() > DEPTH {
                return Err((start, format!("more than {ELEMENTS} elements, or more than {DEPTH} in each other")));
            }
        }
        match (open.pop(), open.pop()) {
            (Some(unclosed), Some(_)) => Err((unclosed.all.start, "this element is not closed".to_owned())),
            (Some(document), None) => root(document, text.len()),
            (None, _) => Err((0, "it has no element".to_owned())),
        }
    }

    /// The text, trimmed.
    pub(super) fn text(&self) -> &str {
        self.text.trim()
    }

    /// The children with this name.
    pub(super) fn each<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first child with this name.
    pub(super) fn text_of(&self, name: &str) -> &str {
        self.children.iter().find(|child| child.name == name).map_or("", Self::text)
    }

    /// Whether both say the same, whatever their comments and spaces are.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.text() == other.text()
            && self.children.len() == other.children.len()
            && self.children.iter().zip(&other.children).all(|(one, other)| one.says_the_same(other))
    }
}

/// The only element of a document.
fn root(mut document: Node, length: usize) -> Result<Node, Broken> {
    match (document.children.len(), document.children.pop()) {
        (1, Some(root)) if root.name != "settings" => Err((root.all.start, "its root is not `<settings>`".to_owned())),
        (1, Some(root)) => Ok(root),
        (_, Some(second)) => Err((second.all.start, "a second root element".to_owned())),
        (_, None) => Err((length, "it has no element".to_owned())),
    }
}

fn adopt(open: &mut [Node], node: Node) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(node);
    }
}

fn say(open: &mut [Node], said: &str, place: usize) -> Result<(), Broken> {
    match open {
        [_] if !said.trim().is_empty() => Err((place, "text outside of the root element".to_owned())),
        [.., last] => {
            last.text.push_str(said);
            Ok(())
        }
        [] => Ok(()),
    }
}
