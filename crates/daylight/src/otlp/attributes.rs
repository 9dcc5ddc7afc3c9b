//! Attributes of spans, points and the resource. Those without a value are left out.

use super::proto::{AnyValue, KeyValue, List, Resource, Value};

/// Attributes, as they are collected.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<KeyValue>);

impl Attributes {
    /// Adds a text, unless it is empty.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.add(key, Value::Text(text.to_owned()));
        }
    }

    /// Adds a number.
    pub(super) fn number(&mut self, key: &str, number: u64) {
        self.add(key, Value::Int(i64::try_from(number).unwrap_or(i64::MAX)));
    }

    /// Adds a number, unless it is 0.
    pub(super) fn some(&mut self, key: &str, number: u64) {
        if number > 0 {
            self.number(key, number);
        }
    }

    /// Adds nanoseconds as milliseconds.
    pub(super) fn millis(&mut self, key: &str, nanos: u64) {
        self.add(key, Value::Double(nanos as f64 / 1e6));
    }

    /// Adds a list, unless it is empty.
    pub(super) fn list(&mut self, key: &str, values: impl Iterator<Item = Value>) {
        let values: Vec<AnyValue> = values.map(|value| AnyValue { value: Some(value) }).collect();
        if !values.is_empty() {
            self.add(key, Value::List(List { values }));
        }
    }

    fn add(&mut self, key: &str, value: Value) {
        self.0.push(KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }) });
    }

    pub(super) fn done(self) -> Vec<KeyValue> {
        self.0
    }
}

/// This server: its name, its version, its identity, which a restored folder changes, and its machine.
pub(super) fn resource(node: u128) -> Resource {
    let mut attributes = Attributes::default();
    attributes.text("service.name", "daylight");
    attributes.text("service.version", env!("CARGO_PKG_VERSION"));
    attributes.text("service.instance.id", &format!("{node:032x}"));
    let machine = rustix::system::uname();
    attributes.text("host.name", &machine.nodename().to_string_lossy());
    Resource { attributes: attributes.done() }
}
