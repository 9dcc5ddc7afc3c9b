//! Reads the elements of an XML-RPC response as a stream of values, and refuses any other order of elements.

use crate::koji::unreadable::Why;
use crate::koji::xml::TEXT_MAX;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

/// How deeply values may be nested. A hub nests its rows five times.
const DEPTH: usize = 32;

/// A part of a response. Arrays and structs are closed by [`Token::Close`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// The value that follows is that of a fault.
    Fault,
    Array,
    Struct,
    /// The name of the member whose value follows.
    Name(&'a str),
    Close,
    Scalar(Scalar<'a>),
}

/// A value that is neither an array nor a struct.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar<'a> {
    Nil,
    Int(i64),
    Double(f64),
    Boolean(bool),
    Text(&'a str),
}

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nil,
    Int,
    Double,
    Boolean,
    Text,
}

/// An open element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Response { has_child: bool },
    Params { has_child: bool },
    Param { has_child: bool },
    Fault { has_child: bool },
    Value { has_child: bool },
    Array { has_child: bool },
    Data,
    Struct,
    Member { has_name: bool, has_value: bool },
    Name,
    Scalar(Kind, &'static str),
}

impl Element {
    fn name(self) -> &'static str {
        match self {
            Element::Response { .. } => "methodResponse",
            Element::Params { .. } => "params",
            Element::Param { .. } => "param",
            Element::Fault { .. } => "fault",
            Element::Value { .. } => "value",
            Element::Array { .. } => "array",
            Element::Data => "data",
            Element::Struct => "struct",
            Element::Member { .. } => "member",
            Element::Name => "name",
            Element::Scalar(_, name) => name,
        }
    }

    /// The element of this name in a value.
    fn in_value(name: &str) -> Result<Self, Why> {
        Ok(match name {
            "string" => Element::Scalar(Kind::Text, "string"),
            "int" => Element::Scalar(Kind::Int, "int"),
            "nil" => Element::Scalar(Kind::Nil, "nil"),
            "boolean" => Element::Scalar(Kind::Boolean, "boolean"),
            "double" => Element::Scalar(Kind::Double, "double"),
            "struct" => Element::Struct,
            "array" => Element::Array { has_child: false },
            "i8" => Element::Scalar(Kind::Int, "i8"),
            "i4" => Element::Scalar(Kind::Int, "i4"),
            "i2" => Element::Scalar(Kind::Int, "i2"),
            "i1" => Element::Scalar(Kind::Int, "i1"),
            "dateTime.iso8601" => Element::Scalar(Kind::Text, "dateTime.iso8601"),
            "base64" => return Err(Why::NotRpc("a value is in base64")),
            _ => return Err(Why::NotRpc("a value has an unknown type")),
        })
    }

    /// The element that begins in this one.
    fn child(&mut self, name: &str) -> Result<Self, Why> {
        let once = |has_child: &mut bool, element| {
            if std::mem::replace(has_child, true) {
                return Err(Why::NotRpc("an element has two children in place of one"));
            }
            Ok(element)
        };
        match (self, name) {
            (Element::Response { has_child }, "params") => once(has_child, Element::Params { has_child: false }),
            (Element::Response { has_child }, "fault") => once(has_child, Element::Fault { has_child: false }),
            (Element::Params { has_child }, "param") => once(has_child, Element::Param { has_child: false }),
            (Element::Param { has_child } | Element::Fault { has_child }, "value") => {
                once(has_child, Element::Value { has_child: false })
            }
            (Element::Value { has_child }, _) => once(has_child, Element::in_value(name)?),
            (Element::Array { has_child }, "data") => once(has_child, Element::Data),
            (Element::Data, "value") => Ok(Element::Value { has_child: false }),
            (Element::Struct, "member") => Ok(Element::Member { has_name: false, has_value: false }),
            (Element::Member { has_name, .. }, "name") => once(has_name, Element::Name),
            (Element::Member { has_name: true, has_value }, "value") => {
                once(has_value, Element::Value { has_child: false })
            }
            _ => Err(Why::NotRpc("an element is in a place where it cannot be")),
        }
    }

    fn is_complete(self) -> bool {
        match self {
            Element::Response { has_child }
            | Element::Params { has_child }
            | Element::Param { has_child }
            | Element::Fault { has_child }
            | Element::Array { has_child } => has_child,
            Element::Member { has_value, .. } => has_value,
            Element::Value { .. } | Element::Data | Element::Struct | Element::Name | Element::Scalar(..) => true,
        }
    }
}

/// The open elements of a response.
#[derive(Debug, Default)]
pub(super) struct Grammar {
    open: Vec<Element>,
    /// Arrays and structs among them.
    depth: usize,
    text: String,
    is_done: bool,
}

impl Grammar {
    /// Whether the response is complete.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Reads the next part of the XML, and passes on what it means.
    pub(super) fn read(
        &mut self,
        event: Event<'_>,
        mut take: impl FnMut(Token<'_>) -> Result<(), Why>,
    ) -> Result<(), Why> {
        match event {
            Event::Start(start) => self.begin(start.local_name().as_ref(), &mut take),
            Event::Empty(start) => {
                self.begin(start.local_name().as_ref(), &mut take)?;
                self.end(start.local_name().as_ref(), &mut take)
            }
            Event::End(end) => self.end(end.local_name().as_ref(), &mut take),
            Event::Text(text) => self.say(&text.xml10_content()),
            Event::CData(text) => self.say(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let text = resolved(&reference).ok_or(Why::Entity)?;
                self.say(&text)
            }
            Event::DocType(_) => Err(Why::Doctype),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::Eof => Ok(()),
        }
    }

    fn begin(&mut self, name: &str, take: &mut impl FnMut(Token<'_>) -> Result<(), Why>) -> Result<(), Why> {
        let element = match self.open.last_mut() {
            Some(parent) => parent.child(name)?,
            None if name == "methodResponse" && !self.is_done => Element::Response { has_child: false },
            None => return Err(Why::NotRpc("it is not one `methodResponse`")),
        };
        if !self.text.trim_ascii().is_empty() {
            return Err(Why::NotRpc("a value has both a text and an element"));
        }
        self.text.clear();
        match element {
            Element::Fault { .. } => take(Token::Fault)?,
            Element::Array { .. } | Element::Struct => {
                self.depth += 1;
                if self.depth > DEPTH {
                    return Err(Why::Deep(DEPTH));
                }
                take(if element == Element::Struct { Token::Struct } else { Token::Array })?;
            }
            _ => {}
        }
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self, name: &str, take: &mut impl FnMut(Token<'_>) -> Result<(), Why>) -> Result<(), Why> {
        let element = self.open.pop().filter(|element| element.name() == name);
        let element = element.ok_or(Why::NotRpc("an element ends that did not begin"))?;
        if !element.is_complete() {
            return Err(Why::NotRpc("an element is empty"));
        }
        match element {
            Element::Value { has_child: false } => take(Token::Scalar(Scalar::Text(&self.text)))?,
            Element::Name => take(Token::Name(&self.text))?,
            Element::Scalar(kind, _) => take(Token::Scalar(scalar(kind, &self.text)?))?,
            Element::Array { .. } | Element::Struct => {
                self.depth -= 1;
                take(Token::Close)?;
            }
            Element::Response { .. } => self.is_done = true,
            _ => {}
        }
        self.text.clear();
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), Why> {
        match self.open.last() {
            Some(Element::Scalar(..) | Element::Name | Element::Value { has_child: false }) => {
                if self.text.len() + text.len() > TEXT_MAX {
                    return Err(Why::LongPart(TEXT_MAX));
                }
                self.text.push_str(text);
                Ok(())
            }
            _ if text.trim_ascii().is_empty() => Ok(()),
            _ => Err(Why::NotRpc("there is a text between elements")),
        }
    }
}

fn scalar(kind: Kind, text: &str) -> Result<Scalar<'_>, Why> {
    let bare = text.trim_ascii();
    let value = match kind {
        Kind::Text => Some(Scalar::Text(text)),
        Kind::Int => bare.parse().ok().map(Scalar::Int),
        Kind::Double => bare.parse().ok().filter(|number: &f64| number.is_finite()).map(Scalar::Double),
        Kind::Nil => bare.is_empty().then_some(Scalar::Nil),
        Kind::Boolean => match bare {
            "0" => Some(Scalar::Boolean(false)),
            "1" => Some(Scalar::Boolean(true)),
            _ => None,
        },
    };
    value.ok_or(Why::NotRpc("a value is not of its type"))
}

/// The text of a reference; `None`: only a document type could define it.
fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Some(character.to_string()),
        Ok(None) => resolve_predefined_entity(&reference.xml10_content()).map(str::to_owned),
        Err(_) => None,
    }
}
