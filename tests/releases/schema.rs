//! JSON that is taken from clients, or given to them, in less ways than before.
//!
//! A value of a client may have more forms later: further members that can be left out, more words, wider limits. One of the server may have further members and
//! further words of a list, as clients ignore what they do not know. The keywords are those of JSON Schema 2020-12 that the document uses.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Who writes the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    /// Clients do: everything that they wrote before must still be taken.
    Taken,
    /// The server does: everything that they read before must still be there.
    Given,
}

/// The named schemas of two documents, and the differences so far.
pub(super) struct Schemas<'a> {
    before: &'a Value,
    now: &'a Value,
    /// Pairs of schemas with names in them that were compared.
    compared: BTreeSet<(String, String, Direction)>,
    found: Vec<String>,
}

/// The schema of one type of value.
type Alternative = Map<String, Value>;

impl<'a> Schemas<'a> {
    /// Nothing was compared yet.
    pub(super) fn of(before: &'a Value, now: &'a Value) -> Self {
        Self { before: &before["schemas"], now: &now["schemas"], compared: BTreeSet::new(), found: Vec::new() }
    }

    /// Notes a difference.
    pub(super) fn found(&mut self, text: String) {
        self.found.push(text);
    }

    /// All differences, each once.
    pub(super) fn narrowed(self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        self.found.into_iter().filter(|text| seen.insert(text.clone())).collect()
    }

    /// Compares two schemas. `at` names the value.
    pub(super) fn compare(&mut self, was: &Value, is: &Value, direction: Direction, at: &str) {
        // A schema may contain itself, by its name.
        let (old, new) = (was.to_string(), is.to_string());
        let has_names = [&old, &new].iter().any(|text| text.contains("\"$ref\""));
        if has_names && !self.compared.insert((old, new, direction)) {
            return;
        }
        let at = named(was).map_or_else(|| at.to_owned(), |name| format!("`{name}`"));
        let (old, new) = (alternatives(was, self.before), alternatives(is, self.now));
        // Each value that clients write must fit now, and each that they read must have fitted before.
        let (needed, offered) = match direction {
            Direction::Taken => (&old, &new),
            Direction::Given => (&new, &old),
        };
        for one in needed {
            let fitting = offered.iter().filter(|other| fits(one, other));
            let tried = fitting.map(|other| match direction {
                Direction::Taken => self.differences(one, other, direction, &at),
                Direction::Given => self.differences(other, one, direction, &at),
            });
            match tried.min_by_key(|tried| tried.found.len()) {
                Some(fewest) => {
                    self.found.extend(fewest.found);
                    self.compared = fewest.compared;
                }
                None if direction == Direction::Taken => self.found(format!("{at} no longer takes {}", kind(one))),
                None => self.found(format!("{at} may be {}", kind(one))),
            }
        }
    }

    /// The differences of two schemas of one type.
    fn differences(&self, was: &Alternative, is: &Alternative, direction: Direction, at: &str) -> Self {
        let mut inner =
            Schemas { before: self.before, now: self.now, compared: self.compared.clone(), found: Vec::new() };
        inner.words(was, is, direction, at);
        inner.members(was, is, direction, at);
        if direction == Direction::Taken {
            inner.limits(was, is, at);
        }
        if let Some(format) = was.get("format").filter(|_| direction == Direction::Given)
            && is.get("format") != Some(format)
        {
            inner.found(format!("{at} no longer has the form {format}"));
        }
        if let (Some(old), Some(new)) = (was.get("items"), is.get("items")) {
            inner.compare(old, new, direction, &format!("each of {at}"));
        }
        inner
    }

    fn words(&mut self, was: &Alternative, is: &Alternative, direction: Direction, at: &str) {
        match (was.get("enum").and_then(Value::as_array), is.get("enum").and_then(Value::as_array)) {
            (Some(old), Some(new)) => {
                let verb = if direction == Direction::Taken { "no longer takes" } else { "is no longer" };
                let lost = old.iter().filter(|word| !new.contains(word));
                self.found.extend(lost.map(|word| format!("{at} {verb} {word}")));
            }
            (None, Some(_)) if direction == Direction::Taken => self.found(format!("{at} takes certain words only")),
            (Some(_), None) if direction == Direction::Given => {
                self.found(format!("{at} may be any {}", kind(is)));
            }
            _ => {}
        }
    }

    fn members(&mut self, was: &Alternative, is: &Alternative, direction: Direction, at: &str) {
        let none = Map::new();
        let of = |schema: &'_ Alternative| schema.get("properties").and_then(Value::as_object).cloned();
        let (old, new) = (of(was).unwrap_or_else(|| none.clone()), of(is).unwrap_or(none));
        for (name, schema) in &old {
            match new.get(name) {
                Some(other) => self.compare(schema, other, direction, &format!("`{name}` of {at}")),
                None => self.found(format!("`{name}` of {at} is gone")),
            }
        }
        let (needed, offered) = (required(was), required(is));
        let (lost, verb) = match direction {
            Direction::Taken => (&offered - &needed, "is required"),
            Direction::Given => (&needed - &offered, "may be missing"),
        };
        self.found.extend(lost.iter().map(|name| format!("`{name}` of {at} {verb}")));
        let further = |schema: &Alternative| schema.get("additionalProperties").cloned().unwrap_or(Value::Bool(true));
        match (further(was), further(is)) {
            (Value::Object(old), Value::Object(new)) => {
                self.compare(&old.into(), &new.into(), direction, &format!("each member of {at}"));
            }
            (Value::Object(_), Value::Bool(false)) => self.found(format!("{at} has no longer members of any name")),
            (Value::Bool(true), other) if direction == Direction::Taken && other != Value::Bool(true) => {
                self.found(format!("{at} no longer takes members of any name"));
            }
            _ => {}
        }
    }

    fn limits(&mut self, was: &Alternative, is: &Alternative, at: &str) {
        let number = |schema: &Alternative, key: &str| schema.get(key).and_then(Value::as_f64);
        for key in ["minimum", "minLength", "minItems", "exclusiveMinimum"] {
            if number(is, key).is_some_and(|new| number(was, key).is_none_or(|old| new > old)) {
                self.found(format!("{at} has a higher `{key}`"));
            }
        }
        for key in ["maximum", "maxLength", "maxItems", "exclusiveMaximum"] {
            if number(is, key).is_some_and(|new| number(was, key).is_none_or(|old| new < old)) {
                self.found(format!("{at} has a lower `{key}`"));
            }
        }
        for key in ["pattern", "format"] {
            if is.get(key).is_some_and(|new| was.get(key) != Some(new)) {
                self.found(format!("{at} has another `{key}`"));
            }
        }
        if is.get("uniqueItems") == Some(&Value::Bool(true)) && was.get("uniqueItems") != is.get("uniqueItems") {
            self.found(format!("{at} no longer takes the same twice"));
        }
        if was.get("default") != is.get("default") {
            self.found(format!("{at} has another default"));
        }
    }
}

fn required(schema: &Alternative) -> BTreeSet<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// The name of a schema that is only named.
fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The types that a value may have, each with a schema of its own.
fn alternatives(schema: &Value, all: &Value) -> Vec<Alternative> {
    if let Some(name) = named(schema) {
        return alternatives(&all[name], all);
    }
    // `true`: any value.
    let Some(members) = schema.as_object() else { return vec![Map::new()] };
    for key in ["oneOf", "anyOf"] {
        if let Some(several) = members.get(key).and_then(Value::as_array) {
            return several.iter().flat_map(|one| alternatives(one, all)).collect();
        }
    }
    let Some(types) = members.get("type").and_then(Value::as_array) else { return vec![members.clone()] };
    let of = |kind: &Value| {
        let mut one = members.clone();
        if kind == "null" {
            one.clear();
        } else if let Some(words) = one.get_mut("enum").and_then(Value::as_array_mut) {
            words.retain(|word| !word.is_null());
        }
        one.insert("type".to_owned(), kind.clone());
        one
    };
    types.iter().map(of).collect()
}

/// Whether values of the first type are values of the second one. Without a type they are of any.
fn fits(one: &Alternative, other: &Alternative) -> bool {
    match (one.get("type"), other.get("type")) {
        (_, None) => true,
        (Some(one), Some(other)) => one == other || (one == "integer" && other == "number"),
        (None, Some(_)) => false,
    }
}

fn kind(schema: &Alternative) -> String {
    schema.get("type").and_then(Value::as_str).unwrap_or("value of any type").to_owned()
}
