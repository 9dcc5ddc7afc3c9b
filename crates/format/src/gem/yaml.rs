//! YAML as a small tree of plain values, within limits. Tags are understood from a closed list, and aliases refused.

use super::Invalid;
use super::invalid::quoted;
use super::package::Limits;
use base64::Engine as _;
use saphyr_parser::{Event, Parser, ScalarStyle};
use std::cell::Cell;

/// What a value says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    None,
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
}

impl Node {
    /// The value of `key`, where this is a mapping that has it and it is not null.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        let Value::Map(pairs) = &self.value else { return None };
        let node = pairs.iter().find(|(name, _)| name == key).map(|(_, node)| node)?;
        if matches!(node.value, Value::Null) { None } else { Some(node) }
    }
}

/// A list or mapping that has not ended.
struct Open {
    node: Node,
    key: Option<String>,
}

/// The one document in `text`.
pub(crate) fn read(member: &'static str, text: &str, limits: &Limits) -> Result<Node, Invalid> {
    // The scanner keeps tokens without bound while it does not know whether a `[` begins a key. So it is given only
    // so many characters between two events, and sees the end of the text after them.
    let budget = Cell::new(limits.yaml_scalar_chars);
    let fed = text.chars().map_while(|c| {
        budget.set(budget.get().checked_sub(1)?);
        Some(c)
    });
    let too_large = |what| Invalid::YamlTooLarge { member, what };
    let bad = |line, why: &str| Invalid::BadYaml { member, line, why: why.to_owned() };
    let mut parser = Parser::new_from_iter(fed);
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut nodes = 0;
    loop {
        let event = parser.next_event();
        if budget.get() == 0 {
            return Err(too_large("a value that is too long"));
        }
        budget.set(limits.yaml_scalar_chars);
        let (event, span) = match event {
            Some(Ok(event)) => event,
            Some(Err(error)) => return Err(bad(error.marker().line(), error.info())),
            None => return Err(bad(1, "it is empty")),
        };
        let done = match event {
            Event::Alias(_) => return Err(Invalid::Aliases(member)),
            Event::StreamEnd => return root.ok_or_else(|| bad(1, "it is empty")),
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => continue,
            Event::DocumentStart(_) if root.is_some() => return Err(bad(span.start.line(), "a second document")),
            Event::DocumentStart(_) => continue,
            Event::Scalar(text, style, _, tag) => {
                let tag = scalar_tag(tag.as_deref())?;
                Node { tag, value: scalar(&text, style, tag)? }
            }
            Event::SequenceStart(_, tag) => {
                let tag = object_tag(tag.as_deref())?;
                open.push(Open { node: Node { tag, value: Value::List(Vec::new()) }, key: None });
                nested(&open, limits).map_err(too_large)?;
                continue;
            }
            Event::MappingStart(_, tag) => {
                let tag = object_tag(tag.as_deref())?;
                open.push(Open { node: Node { tag, value: Value::Map(Vec::new()) }, key: None });
                nested(&open, limits).map_err(too_large)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(ended) => ended.node,
                None => return Err(bad(span.start.line(), "an end without a beginning")),
            },
        };
        nodes += 1;
        if nodes > limits.yaml_nodes {
            return Err(too_large("too many values"));
        }
        if let Value::Map(pairs) = &done.value {
            unique(member, pairs)?;
        }
        let Some(parent) = open.last_mut() else {
            root = Some(done);
            continue;
        };
        match (&mut parent.node.value, parent.key.take()) {
            (Value::Map(pairs), Some(key)) => pairs.push((key, done)),
            (Value::List(items), _) => items.push(done),
            (_, _) => match done.value {
                // A plain `<<` would merge what follows into the mapping.
                Value::Text(key) if key != "<<" => parent.key = Some(key),
                _ => return Err(bad(span.start.line(), "a key that is not a text")),
            },
        }
    }
}

fn nested(open: &[Open], limits: &Limits) -> Result<(), &'static str> {
    if open.len() > limits.yaml_depth { Err("values that are nested too deep") } else { Ok(()) }
}

/// Clients let the last of equal keys win, others the first.
fn unique(member: &'static str, pairs: &[(String, Node)]) -> Result<(), Invalid> {
    let mut keys: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Invalid::DuplicateKey { member, key: quoted(pair[0]) }),
        None => Ok(()),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Tag) -> Result<Value, Invalid> {
    if tag == Tag::Binary {
        let packed: String = text.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(packed);
        return match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => Ok(Value::Text(text)),
            _ => Err(Invalid::BadField { field: "!binary", expected: "UTF-8 text in base64" }),
        };
    }
    let null = style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL");
    Ok(if null { Value::Null } else { Value::Text(text.to_owned()) })
}

fn full(tag: Option<&saphyr_parser::Tag>) -> String {
    tag.map_or_else(String::new, |tag| format!("{}{}", tag.handle, tag.suffix))
}

fn scalar_tag(tag: Option<&saphyr_parser::Tag>) -> Result<Tag, Invalid> {
    let full = full(tag);
    match full.strip_prefix("tag:yaml.org,2002:").or_else(|| full.strip_prefix('!')).unwrap_or(&full) {
        "" | "str" | "timestamp" | "int:Fixnum" | "ruby/regexp" | "null" => Ok(Tag::None),
        "binary" => Ok(Tag::Binary),
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
