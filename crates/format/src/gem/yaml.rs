//! Reads YAML into a small tree of plain values, within limits. Only a closed list of tags is understood. In a pushed
//! gem aliases are refused; elsewhere they are expanded, and what they expand to counts toward the limits.

use super::Invalid;
use super::invalid::quoted;
use super::limits::Limits;
use super::standard::Standard;
use base64::Engine as _;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

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
    /// A symbol that is written with a tag, without its colon.
    Symbol,
    /// The `=` of a requirement as Ruby 1.8 wrote it.
    DefaultKey,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

#[derive(Debug, Clone)]
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

    /// The text, whatever Ruby reads it as.
    pub(crate) fn any_text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Whether Ruby reads it as this symbol. In quotes it would be text.
    pub(crate) fn is_symbol(&self, symbol: &str) -> bool {
        match self {
            Node { tag: Tag::None, value: Value::Text(text), plain: true } => text.strip_prefix(':') == Some(symbol),
            Node { tag: Tag::Symbol, value: Value::Text(text), .. } => text == symbol,
            _ => false,
        }
    }

    /// Number of values and of bytes of text in it, and its depth.
    fn weight(&self) -> (usize, usize, usize) {
        let together = |(nodes, bytes, depth): (usize, usize, usize), (key, node): (usize, &Node)| {
            let (more_nodes, more_bytes, deeper) = node.weight();
            (nodes + more_nodes, bytes + key + more_bytes, depth.max(deeper + 1))
        };
        match &self.value {
            Value::Null => (1, 0, 0),
            Value::Text(text) => (1, text.len(), 0),
            Value::List(items) => items.iter().map(|item| (0, item)).fold((1, 0, 1), together),
            Value::Map(pairs) => pairs.iter().map(|(key, node)| (key.len(), node)).fold((1, 0, 1), together),
        }
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

/// The one document in `text`; of several, RubyGems reads the first.
pub(crate) fn read(member: &'static str, text: &str, limits: &Limits, standard: Standard) -> Result<Node, Invalid> {
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
    let anchored = HashMap::new();
    let mut tree = Tree { member, limits, standard, open: Vec::new(), root: None, anchored, nodes: 0, copied: 0 };
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
            Event::DocumentStart(_) if tree.root.is_some() => match tree.root.take() {
                Some(root) if standard.is_install() => return Ok(root),
                _ => return Err(tree.bad(line, "a second document")),
            },
            Event::DocumentStart(_) => {}
            Event::Alias(_) if standard == Standard::Push => return Err(Invalid::Aliases(member)),
            Event::Alias(anchor) => {
                let Some(node) = tree.anchored.get(&anchor).cloned() else {
                    return Err(tree.bad(line, "an alias of a value that it is in"));
                };
                tree.copy(&node)?;
                tree.add(node, line)?;
            }
            Event::Scalar(text, style, anchor, tag) => {
                let (tag, text_by_tag) = scalar_tag(tag.as_deref(), standard)?;
                let plain = style == ScalarStyle::Plain && !text_by_tag;
                let node = Node { tag, value: scalar(&text, plain, tag, standard)?, plain };
                tree.anchor(anchor, &node)?;
                tree.add(node, line)?;
            }
            Event::SequenceStart(anchor, tag) => {
                tree.begin(object_tag(tag.as_deref(), standard)?, Value::List(Vec::new()), anchor)?;
            }
            Event::MappingStart(anchor, tag) => {
                tree.begin(object_tag(tag.as_deref(), standard)?, Value::Map(Vec::new()), anchor)?;
            }
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
    standard: Standard,
    /// Open lists and mappings, each with the key whose value comes next, and the number of its anchor.
    open: Vec<(Node, Option<String>, usize)>,
    root: Option<Node>,
    /// Complete values that have an anchor, by its number.
    anchored: HashMap<usize, Node>,
    nodes: usize,
    /// Bytes of text in copies of values that have an anchor.
    copied: usize,
}

impl Tree<'_> {
    /// Stores a value with an anchor for its aliases. 0: it has none.
    fn anchor(&mut self, anchor: usize, node: &Node) -> Result<(), Invalid> {
        if anchor > 0 && self.standard.is_install() {
            self.copy(node)?;
            self.anchored.insert(anchor, node.clone());
        }
        Ok(())
    }

    /// Counts a copy toward the limits, as if the document had the value once more.
    fn copy(&mut self, node: &Node) -> Result<(), Invalid> {
        let (nodes, bytes, depth) = node.weight();
        (self.nodes, self.copied) = (self.nodes + nodes, self.copied + bytes);
        if self.open.len() + depth > self.limits.yaml_depth {
            return Err(self.too_large("values that are nested too deep"));
        }
        if self.nodes > self.limits.yaml_nodes || self.copied as u64 > self.limits.member_bytes {
            return Err(self.too_large("aliases of too many values"));
        }
        Ok(())
    }

    fn begin(&mut self, tag: Tag, value: Value, anchor: usize) -> Result<(), Invalid> {
        self.open.push((Node { tag, value, plain: false }, None, anchor));
        if self.open.len() > self.limits.yaml_depth {
            return Err(self.too_large("values that are nested too deep"));
        }
        Ok(())
    }

    fn end(&mut self, line: usize) -> Result<(), Invalid> {
        let Some((mut node, _, anchor)) = self.open.pop() else {
            return Err(self.bad(line, "an end without a beginning"));
        };
        if let (Value::Map(pairs), Standard::Install) = (&mut node.value, self.standard) {
            // Ruby uses the last of equal keys.
            let mut seen = HashSet::new();
            let last: Vec<bool> = pairs.iter().rev().map(|(key, _)| seen.insert(key.as_str())).collect();
            let mut last = last.into_iter().rev();
            pairs.retain(|_| last.next().unwrap_or(true));
        } else if let Value::Map(pairs) = &node.value {
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
        self.anchor(anchor, &node)?;
        self.add(node, line)
    }

    fn add(&mut self, node: Node, line: usize) -> Result<(), Invalid> {
        self.nodes += 1;
        if self.nodes > self.limits.yaml_nodes {
            return Err(self.too_large("too many values"));
        }
        let Some((parent, next, _)) = self.open.last_mut() else {
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

fn scalar(text: &str, plain: bool, tag: Tag, standard: Standard) -> Result<Value, Invalid> {
    if tag == Tag::Binary {
        let packed: String = text.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(packed);
        return match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => Ok(Value::Text(text)),
            // Ruby 1.8 had texts of any encoding.
            Ok(Err(error)) if standard.is_install() => {
                Ok(Value::Text(String::from_utf8_lossy(error.as_bytes()).into_owned()))
            }
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
fn scalar_tag(tag: Option<&saphyr_parser::Tag>, standard: Standard) -> Result<(Tag, bool), Invalid> {
    let full = full(tag);
    match full.strip_prefix("tag:yaml.org,2002:").or_else(|| full.strip_prefix('!')).unwrap_or(&full) {
        "" => Ok((Tag::None, false)),
        "str" => Ok((Tag::None, true)),
        "timestamp" | "int:Fixnum" | "ruby/regexp" | "null" => Ok((Tag::Typed, false)),
        "binary" => Ok((Tag::Binary, true)),
        "ruby/sym" | "ruby/symbol" | "sym" if standard.is_install() => Ok((Tag::Symbol, true)),
        "int" | "float" | "bool" if standard.is_install() => Ok((Tag::Typed, false)),
        _ => Err(Invalid::ForbiddenTag(quoted(&full))),
    }
}

fn object_tag(tag: Option<&saphyr_parser::Tag>, standard: Standard) -> Result<Tag, Invalid> {
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
        "YAML::Syck::DefaultKey" | "Syck::DefaultKey" if standard.is_install() => Ok(Tag::DefaultKey),
        _ => Err(Invalid::ForbiddenTag(quoted(&full))),
    }
}
