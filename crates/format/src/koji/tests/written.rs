//! Values that tests write as XML-RPC, in each form that a hub may choose.

use proptest::prelude::*;

/// A value of XML-RPC.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Nil,
    Int(i64),
    Double(f64),
    Boolean(bool),
    Text(String),
    Array(Vec<Value>),
    Struct(Vec<(String, Value)>),
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A struct with these members.
pub(super) fn row<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Struct(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(super) fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '<' => "&lt;".to_owned(),
            '&' => "&amp;".to_owned(),
            '>' => "&gt;".to_owned(),
            'q' => "&#113;".to_owned(),
            '\r' => "&#xD;".to_owned(),
            other => other.to_string(),
        })
        .collect()
}

impl Value {
    pub(super) fn xml(&self) -> String {
        let inside = match self {
            Value::Nil => "<nil/>".to_owned(),
            Value::Int(number) if i32::try_from(*number).is_err() => format!("<i8>{number}</i8>"),
            Value::Int(number) => format!("<int>{number}</int>"),
            Value::Double(number) => format!("<double>{number:?}</double>"),
            Value::Boolean(is) => format!("<boolean>{}</boolean>", u8::from(*is)),
            // Texts that begin with a letter stand without a type.
            Value::Text(text) if text.starts_with(char::is_alphabetic) => escape(text),
            Value::Text(text) => format!("<string>{}</string>", escape(text)),
            Value::Array(items) => {
                let items: String = items.iter().map(Value::xml).collect();
                format!("<array><data>\n{items}</data></array>")
            }
            Value::Struct(members) => {
                let member = |(name, value): &(String, Value)| {
                    format!("<member>\n<name>{}</name>\n{}</member>\n", escape(name), value.xml())
                };
                format!("<struct>\n{}</struct>", members.iter().map(member).collect::<String>())
            }
        };
        format!("<value>{inside}</value>\n")
    }
}

/// A text that XML can hold.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    "[ -~\u{fc}\u{4e2d}\u{1f600}\n]{0,12}"
}

pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<i64>().prop_map(Value::Int),
        (-1.0e12..1.0e12).prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        any_text().prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((any_text(), inner), 0..4).prop_map(Value::Struct),
        ]
    })
}
