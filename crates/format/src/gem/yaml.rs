//! Reads YAML into a small tree of plain values, within limits. Only a closed list of tags is understood, and aliases
//! are refused.

use super::Invalid;
use super::invalid::quoted;
use super::limits::Limits;
use base64::Engine as _;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::cell::Cell;

/// The tag of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    None,
    /// A value that Ruby does not read as text: a date, a number.
    Typed,
    Specification,
    Version,
    Requirement,
    Dependency,
    Platform,
    Binary,
}

#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) tag: Tag,
    pub(crate) value: Value,
    /// A text without quotes, which a client may read as a number.
    plain: bool,
}

impl Node {
    /// The value of `key`, where this is a mapping that has it and it is not null.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(pairs) = &self.value else { return None };
        let node = pairs.iter().find(|(name, _)| name == key).map(|(_, node)| node)?;
        if matches!(node.value, Value::Null) { None } else { Some(node) }
    }

    /// The text, if Ruby also reads it as text: it is quoted, or cannot be read as another type.
    pub(crate) fn text(&self, field: &'static str) -> Result<&str, Invalid> {
        let Node { tag: Tag::None | Tag::Binary, value: Value::Text(text), plain } = self else {
            return Err(Invalid::BadField { field, expected: "a text" });
        };
        if *plain && is_other(text) {
            return Err(Invalid::BadField { field, expected: "in quotes, otherwise Ruby does not read it as a text" });
        }
        Ok(text)
    }

    /// Whether Ruby reads it as this symbol. In quotes it would be text.
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self, Node { tag: Tag::None, value: Value::Text(text), plain: true } if text == symbol)
    }
}

/// Whether Psych's `ScalarScanner` reads a name, a version or a platform as something other than text. It may be wrong
/// for some texts, but not for texts that RubyGems writes without quotes.
fn is_other(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let number = lower.strip_prefix('-').unwrap_or(&lower);
    let all = |text: &str, digits: &str| text.chars().all(|c| c == '_' || digits.contains(c));
    let day = |text: &str| (1..=2).contains(&text.len()) && all(text, "0123456789");
    if matches!(number, "null" | "yes" | "true" | "on" | "no" | "false" | "off" | ".inf" | ".nan") {
        return true;
    }
    for (base, digits) in [("0x", "0123456789abcdef"), ("0b", "01"), ("0o", "01234567")] {
        if number.strip_prefix(base).is_some_and(|rest| all(rest, digits)) {
            return true;
        }
    }
    if let [year, month, date] = number.split('-').collect::<Vec<_>>()[..] {
        return year.len() == 4 && all(year, "0123456789") && day(month) && day(date);
    }
    let (mantissa, exponent) = number.split_once("e-").unwrap_or((number, ""));
    mantissa.starts_with(|c: char| c == '.' || c.is_ascii_digit())
        && mantissa.split('.').count() <= 2
        && all(mantissa, "0123456789.")
        && all(exponent, "0123456789")
}

/// The one document in `text`.
pub(crate) fn read(member: &'static str, text: &str, limits: &Limits) -> Result<Node, Invalid> {
    // The scanner keeps tokens without a bound while it does not know whether a `[` begins a key. So it gets a limited
    // number of characters between two events, and then the end of the text.
    let budget = Cell::new(limits.yaml_scalar_chars);
    // With a directive, a tag could be written in an unrecognized way.
    if text.split(|c| line_break(c) == '\n' || c == '\r').any(|line| line.starts_with("%TAG")) {
        return Err(Invalid::TagDirective(member));
    }
    let mut parser = Parser::new_from_iter(text.chars().map(line_break).map_while(|c| {
        budget.set(budget.get().checked_sub(1)?);
        Some(c)
    }));
    let mut tree = Tree { member, limits, open: Vec::new(), root: None, nodes: 0 };
    loop {
        let event = parser.next_event();
        if budget.get() == 0 {
            return Err(tree.too_large("a value that is too long"));
        }
        budget.set(limits.yaml_scalar_chars);
        let (event, span) = match event {
            Some(Ok(event)) => event,
            Some(Err(error)) => return Err(tree.bad(error.marker().line(), error.info())),
            None => return Err(tree.bad(1, "it is empty")),
        };
        let line = span.start.line();
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            Event::DocumentStart(_) if tree.root.is_some() => return Err(tree.bad(line, "a second document")),
            Event::DocumentStart(_) => {}
            Event::Alias(_) => return Err(Invalid::Aliases(member)),
            Event::Scalar(text, style, _, tag) => {
                let (tag, text_by_tag) = scalar_tag(tag.as_deref())?;
                let plain = style == ScalarStyle::Plain && !text_by_tag;
                tree.add(Node { tag, value: scalar(&text, plain, tag)?, plain }, line)?;
            }
            Event::SequenceStart(_, tag) => tree.begin(object_tag(tag.as_deref())?, Value::List(Vec::new()))?,
            Event::MappingStart(_, tag) => tree.begin(object_tag(tag.as_deref())?, Value::Map(Vec::new()))?,
            Event::SequenceEnd | Event::MappingEnd => tree.end(line)?,
            Event::StreamEnd => return tree.root.take().ok_or_else(|| tree.bad(1, "it is empty")),
        }
    }
}

/// YAML 1.1, which Ruby's parser reads, has three more line breaks. Read as text, they could hide a key.
fn line_break(c: char) -> char {
    if matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}') { '\n' } else { c }
}

/// A document that is being read.
struct Tree<'a> {
    member: &'static str,
    limits: &'a Limits,
    /// Open lists and mappings, each with the key whose value comes next.
    open: Vec<(Node, Option<String>)>,
    root: Option<Node>,
    nodes: usize,
}

impl Tree<'_> {
    fn begin(&mut self, tag: Tag, value: Value) -> Result<(), Invalid> {
        self.open.push((Node { tag, value, plain: false }, None));
        if self.open.len() > self.limits.yaml_depth {
            return Err(self.too_large("values that are nested too deep"));
        }
        Ok(())
    }

    fn end(&mut self, line: usize) -> Result<(), Invalid> {
        let Some((node, _)) = self.open.pop() else { return Err(self.bad(line, "an end without a beginning")) };
        if let Value::Map(pairs) = &node.value {
            unique(self.member, pairs)?;
            // Clients turn the keys of an object into instance variables.
            let name = |key: &str| {
                !key.starts_with(|c: char| c.is_ascii_digit())
                    && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            if node.tag != Tag::None && !pairs.iter().all(|(key, _)| name(key)) {
                return Err(self.bad(line, "an object has a key that is not the name of a field"));
            }
        }
        self.add(node, line)
    }

    fn add(&mut self, node: Node, line: usize) -> Result<(), Invalid> {
        self.nodes += 1;
        if self.nodes > self.limits.yaml_nodes {
            return Err(self.too_large("too many values"));
        }
        let Some((parent, next)) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut parent.value, next.take(), node.value) {
            (Value::Map(pairs), Some(key), value) => pairs.push((key, Node { value, ..node })),
            (Value::List(items), _, value) => items.push(Node { value, ..node }),
            // A plain `<<` would merge the value into the mapping.
            (_, _, Value::Text(key)) if key != "<<" => *next = Some(key),
            _ => return Err(self.bad(line, "a key that is not a text")),
        }
        Ok(())
    }

    fn bad(&self, line: usize, why: &str) -> Invalid {
        Invalid::BadYaml { member: self.member, line, why: why.to_owned() }
    }

    fn too_large(&self, what: &'static str) -> Invalid {
        Invalid::YamlTooLarge { member: self.member, what }
    }
}

/// Some clients use the last of equal keys, and others the first.
fn unique(member: &'static str, pairs: &[(String, Node)]) -> Result<(), Invalid> {
    let mut keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Invalid::DuplicateKey { member, key: quoted(pair[0]) }),
        None => Ok(()),
    }
}

fn scalar(text: &str, plain: bool, tag: Tag) -> Result<Value, Invalid> {
    if tag == Tag::Binary {
        let packed: String = text.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(packed);
        return match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => Ok(Value::Text(text)),
            _ => Err(Invalid::BadField { field: "!binary", expected: "UTF-8 text in base64" }),
        };
    }
    let null = plain && (matches!(text, "" | "~") || text.eq_ignore_ascii_case("null"));
    Ok(if null { Value::Null } else { Value::Text(text.to_owned()) })
}

fn full(tag: Option<&saphyr_parser::Tag>) -> String {
    tag.map_or_else(String::new, |tag| format!("{}{}", tag.handle, tag.suffix))
}

/// The tag of a scalar, and whether the tag makes it text in any notation.
fn scalar_tag(tag: Option<&saphyr_parser::Tag>) -> Result<(Tag, bool), Invalid> {
    let full = full(tag);
    match full.strip_prefix("tag:yaml.org,2002:").or_else(|| full.strip_prefix('!')).unwrap_or(&full) {
        "" => Ok((Tag::None, false)),
        "str" => Ok((Tag::None, true)),
        "timestamp" | "int:Fixnum" | "ruby/regexp" | "null" => Ok((Tag::Typed, false)),
        "binary" => Ok((Tag::Binary, true)),
        _ => Err(Invalid::ForbiddenTag(quoted(&full))),
    }
}

fn object_tag(tag: Option<&saphyr_parser::Tag>) -> Result<Tag, Invalid> {
    let full = full(tag);
    if full.is_empty() {
        return Ok(Tag::None);
    }
    let class = full.strip_prefix('!').or_else(|| full.strip_prefix("tag:ruby.yaml.org,2002:")).unwrap_or_default();
    match class.trim_start_matches("ruby/").strip_prefix("object:").unwrap_or_default() {
        "Gem::Specification" => Ok(Tag::Specification),
        "Gem::Version" => Ok(Tag::Version),
        "Gem::Requirement" | "Gem::Version::Requirement" => Ok(Tag::Requirement),
        "Gem::Dependency" => Ok(Tag::Dependency),
        "Gem::Platform" => Ok(Tag::Platform),
        _ => Err(Invalid::ForbiddenTag(quoted(&full))),
    }
}
