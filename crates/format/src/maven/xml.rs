//! Reads and writes XML as far as Maven's documents need it: elements and text, within limits, and always written in
//! the same form.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};
use std::borrow::Cow;

/// The longest document, in bytes.
pub const LONGEST: usize = 8 << 20;
/// The most elements in a document. The metadata of ten thousand versions has a fifth of that.
const ELEMENTS: usize = 100_000;
/// The most children of one entry of a list that is read entry by entry.
const CHILDREN: usize = 100;
/// The deepest element. A POM has some twenty levels, including the settings of plugins.
const DEPTH: usize = 100;

/// A document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is longer than this number of bytes.
    #[error("it is longer than {} MiB", .0 >> 20)]
    Long(usize),
    /// It has too many elements, or they are nested too deeply.
    #[error("it has more than {ELEMENTS} elements, or more than {DEPTH} in each other")]
    Large,
    /// It lists more than this number of entries.
    #[error("it has more than {0} entries")]
    TooMany(usize),
    /// It is not XML.
    #[error("it is not XML: {0}")]
    Broken(String),
    /// It is another XML document.
    #[error("it is not a `{0}`")]
    Other(&'static str),
}

/// An element, without attributes and namespaces.
#[derive(Debug, Default)]
pub(super) struct Element {
    name: String,
    text: String,
    /// Whether the text contains an entity that the document does not declare.
    undeclared: bool,
    children: Vec<Element>,
}

impl Element {
    /// Reads a document with this root element.
    pub(super) fn read(bytes: &[u8], name: &'static str) -> Result<Self, Unreadable> {
        if bytes.len() > LONGEST {
            return Err(Unreadable::Long(LONGEST));
        }
        let mut found = None;
        parse(bytes, 4 * ELEMENTS, |open, element| match open {
            [_] if found.is_none() && element.name == name => found = Some(element),
            [_] => {}
            _ => adopt(open, element),
        })?;
        found.ok_or(Unreadable::Other(name))
    }

    /// Reads a document of at most `longest` bytes with this root element, and hands each element `entry` of its child
    /// `list` to `take`, with its children and without theirs. Only one entry is in memory at a time.
    pub(super) fn read_each(
        bytes: &[u8],
        longest: usize,
        [root, list, entry]: [&'static str; 3],
        mut take: impl FnMut(Element),
    ) -> Result<(), Unreadable> {
        if bytes.len() > longest {
            return Err(Unreadable::Long(longest));
        }
        let mut is_found = false;
        parse(bytes, usize::MAX, |open, element| match open {
            [_] => is_found |= element.name == root,
            [_, one, two] if one.name == root && two.name == list && element.name == entry => take(element),
            [_, one, two, three] if one.name == root && two.name == list && three.children.len() < CHILDREN => {
                adopt(open, element);
            }
            _ => {}
        })?;
        if is_found { Ok(()) } else { Err(Unreadable::Other(root)) }
    }

    /// Its name, without a prefix.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its children, in order.
    pub(super) fn children(&self) -> &[Element] {
        &self.children
    }

    /// The first child with this name.
    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children with this name below the first child `of`: `versions/version`.
    pub(super) fn list<'a>(&'a self, of: &str, name: &'a str) -> impl Iterator<Item = &'a Element> {
        let children = self.child(of).map(|of| of.children.as_slice()).unwrap_or_default();
        children.iter().filter(move |child| child.name == name)
    }

    /// The trimmed text, if there is any. `None` if it contains an undeclared entity: the text is then unknown, and
    /// coordinates must not be guessed.
    pub(super) fn text(&self) -> Option<&str> {
        self.prose().filter(|_| !self.undeclared)
    }

    /// Whether any text in it contains an undeclared entity.
    pub(super) fn has_undeclared(&self) -> bool {
        self.undeclared || self.children.iter().any(Element::has_undeclared)
    }

    /// The text of the first child with this name.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name)?.text()
    }

    /// The text of the first child with this name, for display: an undeclared entity (`&oslash;` in old POMs) stays
    /// as written.
    pub(super) fn prose_of(&self, name: &str) -> Option<&str> {
        self.child(name)?.prose()
    }

    fn prose(&self) -> Option<&str> {
        Some(self.text.trim()).filter(|text| !text.is_empty())
    }
}

/// Decodes a document: UTF-8, UTF-16 with a byte order mark, or else Latin-1, as in very old POMs.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |pair: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|two| pair([two[0], two[1]]));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes).into(),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes).into(),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => bytes.iter().copied().map(char::from).collect::<String>().into(),
        },
    }
}

/// Parses a document of at most `most` parts. Each element that ends is handed to `end`, with the open elements around
/// it; the first of these is nameless.
fn parse(bytes: &[u8], most: usize, mut end: impl FnMut(&mut [Element], Element)) -> Result<(), Unreadable> {
    let text = decoded(bytes);
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}').trim_start());
    reader.config_mut().allow_dangling_amp = true;
    let mut open = vec![Element::default()];
    let mut count = 0;
    loop {
        let event = reader.read_event().map_err(|error| Unreadable::Broken(error.to_string()))?;
        let begun = |start: &quick_xml::events::BytesStart<'_>| Element {
            name: start.local_name().as_ref().to_owned(),
            ..Element::default()
        };
        match event {
            Event::Start(start) => open.push(begun(&start)),
            Event::Empty(start) => end(&mut open, begun(&start)),
            Event::End(_) => {
                let element = open.pop().filter(|_| !open.is_empty());
                end(
                    &mut open,
                    element.ok_or_else(|| Unreadable::Broken("it ends before its first element".to_owned()))?,
                );
            }
            Event::Text(text) => say(&mut open, &text.xml10_content()),
            Event::CData(text) => say(&mut open, &text.xml10_content()),
            Event::GeneralRef(reference) => match resolved(&reference) {
                Some(text) => say(&mut open, &text),
                None => {
                    say(&mut open, &format!("&{};", reference.xml10_content()));
                    open.iter_mut().last().into_iter().for_each(|element| element.undeclared = true);
                }
            },
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
        }
        count += 1;
        if count > most || open.len() > DEPTH {
            return Err(Unreadable::Large);
        }
    }
    let is_complete = open.len() == 1;
    is_complete.then_some(()).ok_or_else(|| Unreadable::Broken("it ends within an element".to_owned()))
}

/// Puts an element into the last of those around it.
fn adopt(open: &mut [Element], element: Element) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(element);
    }
}

fn say(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// The text of a reference; `None`: only a DTD defines it, and DTDs are not read.
fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Some(character.to_string()),
        _ => resolve_predefined_entity(&reference.xml10_content()).map(str::to_owned),
    }
}

/// A document that is being written, indented by two spaces.
pub(super) struct Writer {
    text: String,
    open: Vec<&'static str>,
}

impl Writer {
    /// Begins a document with its root element. `attributes` are written unchanged.
    pub(super) fn new(name: &'static str, attributes: &str) -> Self {
        let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{name}{attributes}>\n");
        Self { text, open: vec![name] }
    }

    /// An element with children.
    pub(super) fn element(&mut self, name: &'static str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}>"));
        self.open.push(name);
        inside(self);
        self.open.pop();
        self.line(&format!("</{name}>"));
    }

    /// An element with a text, if there is one.
    pub(super) fn leaf(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.line(&format!("<{name}>{}</{name}>", escaped(text)));
        }
    }

    /// A comment.
    pub(super) fn comment(&mut self, text: &str) {
        self.line(&format!("<!-- {} -->", text.replace("--", "- -")));
    }

    /// The whole document.
    pub(super) fn finish(mut self) -> String {
        if let Some(name) = self.open.pop() {
            self.line(&format!("</{name}>"));
        }
        self.text
    }

    fn line(&mut self, text: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.open.len()));
        self.text.push_str(text);
        self.text.push('\n');
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // XML cannot represent these characters.
            _ if character.is_control() && !matches!(character, '\n' | '\t') => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_every_age_are_read() {
        let read = |bytes: &[u8]| Element::read(bytes, "a").map(|a| a.text_of("b").map(str::to_owned));
        for (document, text) in [
            ("<a><b> x </b></a>", "x"),
            ("\u{feff}<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY e \"x\">]><!-- c --><a><b>x</b></a>", "x"),
            ("\n\n<?xml version='1.0'?><a xmlns='urn:x' xmlns:m='urn:m'><m:b>x</m:b></a>", "x"),
            ("<a><c><b>no</b></c><b>&lt;&#x41;&amp;<![CDATA[<b>]]></b></a>", "<A&<b>"),
            ("<a><b>a & b</b></a>", "a & b"),
        ] {
            assert_eq!(read(document.as_bytes()), Ok(Some(text.to_owned())), "{document}");
        }
        assert_eq!(read(b"<a><b>K\xf6ln</b></a>"), Ok(Some("K\u{f6}ln".to_owned())));
        let wide: Vec<u8> = "\u{feff}<a><b>x</b></a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide), Ok(Some("x".to_owned())));
        assert_eq!(read(b"<a/>"), Ok(None));
    }

    #[test]
    fn an_entity_that_nobody_declared_is_prose_and_no_coordinate() {
        for document in [
            "<a><b>K&oslash;ln &amp; x</b></a>",
            "<!DOCTYPE a [<!ENTITY oslash \"x\">]><a><b>K&oslash;ln &amp; x</b></a>",
        ] {
            let a = Element::read(document.as_bytes(), "a").unwrap();
            assert_eq!((a.text_of("b"), a.prose_of("b")), (None, Some("K&oslash;ln & x")), "{document}");
        }
        let odd = Element::read(b"<a><b>&#xffffff;</b></a>", "a").map(|a| a.text_of("b").map(str::to_owned));
        assert!(!matches!(odd, Ok(Some(_))), "{odd:?}");
    }

    #[test]
    fn what_is_broken_or_too_large_is_not_read() {
        let read = |document: &str| Element::read(document.as_bytes(), "a").map(drop).unwrap_err();
        for broken in ["<a>", "</a>", "<a></b>", "<a><b></a></b>", "<a", "<a><!--"] {
            assert!(matches!(read(broken), Unreadable::Broken(_)), "{broken}");
        }
        for other in ["", "text", "<html><body/></html>", "{}"] {
            assert_eq!(read(other), Unreadable::Other("a"), "{other}");
        }
        assert_eq!(read(&"<a>".repeat(200)), Unreadable::Large);
        assert_eq!(read(&format!("<a>{}</a>", "<b/>".repeat(500_000))), Unreadable::Large);
        assert_eq!(read(&" ".repeat(LONGEST + 1)), Unreadable::Long(LONGEST));
        assert_eq!(Unreadable::Long(LONGEST).to_string(), "it is longer than 8 MiB");
    }

    #[test]
    fn what_is_written_can_be_read() {
        let mut writer = Writer::new("a", " b=\"c\"");
        writer.comment("a -- b");
        writer.element("list", |list| {
            list.leaf("b", Some("<&>\u{1}"));
            list.leaf("b", None);
        });
        let text = writer.finish();
        assert_eq!(
            text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a b=\"c\">\n  <!-- a - - b -->\n  <list>\n    <b>&lt;&amp;&gt;\u{fffd}</b>\n  </list>\n</a>\n"
        );
        let read = Element::read(text.as_bytes(), "a").unwrap();
        assert_eq!(read.list("list", "b").map(Element::text).collect::<Vec<_>>(), [Some("<&>\u{fffd}")]);
    }
}
