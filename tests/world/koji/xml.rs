//! XML-RPC as Koji's hub speaks it, with JSON's values for its values.

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// A call: the method and its arguments, as they stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) method: String,
    pub(super) params: Vec<Value>,
}

/// A fault: its code and its text.
pub(crate) type Fault = (i64, String);

impl Call {
    /// Reads a request. An error says in a few words why it is none.
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        let mut parser = Parser::of(body)?;
        parser.begin("methodCall")?;
        parser.begin("methodName")?;
        let method = parser.text("methodName")?;
        let mut params = Vec::new();
        if parser.opens("params")? {
            while parser.opens("param")? {
                params.push(parser.value()?);
                parser.end("param")?;
            }
            parser.end("params")?;
        }
        parser.end("methodCall")?;
        Ok(Self { method, params })
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let mut text = String::from("<?xml version='1.0'?>\n<methodCall>\n<methodName>");
        text += &escaped(&self.method);
        text += "</methodName>\n<params>\n";
        for param in &self.params {
            text += "<param>\n";
            write(&mut text, param);
            text += "</param>\n";
        }
        (text + "</params>\n</methodCall>\n").into_bytes()
    }
}

/// An answer as XML.
pub(super) fn answer(answer: &Result<Value, Fault>) -> Vec<u8> {
    let mut text = String::from("<?xml version='1.0'?>\n<methodResponse>\n");
    match answer {
        Ok(value) => {
            text += "<params>\n<param>\n";
            write(&mut text, value);
            text += "</param>\n</params>\n";
        }
        Err((code, said)) => {
            text += "<fault>\n";
            write(&mut text, &json!({ "faultCode": code, "faultString": said }));
            text += "</fault>\n";
        }
    }
    (text + "</methodResponse>\n").into_bytes()
}

/// Reads an answer.
pub(super) fn read_answer(body: &[u8]) -> Result<Value, Fault> {
    let mut parser = Parser::of(body).unwrap();
    parser.begin("methodResponse").unwrap();
    if parser.opens("fault").unwrap() {
        let fault = parser.value().unwrap();
        return Err((fault["faultCode"].as_i64().unwrap(), fault["faultString"].as_str().unwrap().to_owned()));
    }
    parser.begin("params").unwrap();
    parser.begin("param").unwrap();
    Ok(parser.value().unwrap())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Writes a value in the layout of the hub: an absent one takes less lines.
fn write(text: &mut String, value: &Value) {
    match value {
        Value::Null => return *text += "<value><nil/></value>",
        Value::Bool(value) => _ = write!(text, "<value><boolean>{}</boolean></value>", u8::from(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(number) if i32::try_from(number).is_ok() => _ = write!(text, "<value><int>{number}</int></value>"),
            Some(number) => _ = write!(text, "<value><i8>{number}</i8></value>"),
            None => _ = write!(text, "<value><double>{number}</double></value>"),
        },
        Value::String(value) => _ = write!(text, "<value><string>{}</string></value>", escaped(value)),
        Value::Array(values) => {
            *text += "<value><array><data>\n";
            values.iter().for_each(|value| write(text, value));
            *text += "</data></array></value>";
        }
        Value::Object(members) => {
            *text += "<value><struct>\n";
            for (name, value) in members {
                _ = writeln!(text, "<member>\n<name>{}</name>", escaped(name));
                write(text, value);
                *text += "</member>\n";
            }
            *text += "</struct></value>";
        }
    }
    *text += "\n";
}

/// Reads one element after the other.
struct Parser<'a> {
    reader: Reader<&'a [u8]>,
    next: Event<'a>,
}

impl<'a> Parser<'a> {
    fn of(body: &'a [u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let mut parser = Self { reader, next: Event::Eof };
        parser.step()?;
        Ok(parser)
    }

    /// Passes spaces and comments between elements, up to the next one that matters.
    fn step(&mut self) -> Result<(), String> {
        loop {
            self.next = self.reader.read_event().map_err(|error| error.to_string())?;
            match &self.next {
                Event::Decl(_) | Event::Comment(_) => {}
                Event::Text(text) if text.trim().is_empty() => {}
                _ => return Ok(()),
            }
        }
    }

    /// Whether this element comes next; then it is entered.
    fn opens(&mut self, name: &str) -> Result<bool, String> {
        let opens = matches!(&self.next, Event::Start(start) if start.name().as_ref() == name);
        if opens {
            self.step()?;
        }
        Ok(opens)
    }

    fn begin(&mut self, name: &str) -> Result<(), String> {
        if self.opens(name)? { Ok(()) } else { Err(format!("no {name} where one is due")) }
    }

    fn end(&mut self, name: &str) -> Result<(), String> {
        if !matches!(&self.next, Event::End(end) if end.name().as_ref() == name) {
            return Err(format!("{name} does not end"));
        }
        self.step()
    }

    /// The text up to the end of the element that was entered.
    fn text(&mut self, name: &str) -> Result<String, String> {
        let mut found = String::new();
        loop {
            match &self.next {
                Event::Text(text) => found += text,
                Event::CData(text) => found += text,
                Event::GeneralRef(entity) => {
                    let entity = format!("&{};", &**entity);
                    found += &quick_xml::escape::unescape(&entity).map_err(|error| error.to_string())?;
                }
                _ => break,
            }
            self.next = self.reader.read_event().map_err(|error| error.to_string())?;
        }
        self.end(name)?;
        Ok(found)
    }

    fn value(&mut self) -> Result<Value, String> {
        self.begin("value")?;
        let Event::Start(start) = &self.next else { return self.text("value").map(Value::String) };
        let kind = start.name().as_ref().to_owned();
        let value = match kind.as_str() {
            "array" => self.array()?,
            "struct" => self.members()?,
            _ => {
                // Spaces at the beginning of a text are a part of it.
                self.next = self.reader.read_event().map_err(|error| error.to_string())?;
                let text = self.text(&kind)?;
                match kind.as_str() {
                    "nil" => Value::Null,
                    "boolean" => json!(text == "1"),
                    "int" | "i4" | "i8" => json!(text.parse::<i64>().map_err(|error| error.to_string())?),
                    "double" => json!(text.parse::<f64>().map_err(|error| error.to_string())?),
                    "string" => Value::String(text),
                    _ => return Err(format!("a value is no {kind}")),
                }
            }
        };
        self.end("value")?;
        Ok(value)
    }

    fn array(&mut self) -> Result<Value, String> {
        self.step()?;
        self.begin("data")?;
        let mut values = Vec::new();
        while matches!(&self.next, Event::Start(_)) {
            values.push(self.value()?);
        }
        self.end("data")?;
        self.end("array")?;
        Ok(Value::Array(values))
    }

    fn members(&mut self) -> Result<Value, String> {
        self.step()?;
        let mut members = Map::new();
        while self.opens("member")? {
            self.begin("name")?;
            let name = self.text("name")?;
            members.insert(name, self.value()?);
            self.end("member")?;
        }
        self.end("struct")?;
        Ok(Value::Object(members))
    }
}
