//! The JSON form of a question.

use super::draft::{At, Draft, TESTS_MAX};
use super::mistake::{Mistake, Position};
use super::names::{self, clipped, nearest};
use super::question::{Filter, Key, Measure, Question};
use super::text::{self, DEPTH_MAX};
use super::{tokens, value};
use crate::column::{Column, ColumnKind};
use serde_json::{Map, Value as Json};
use telemetry::Millis;

/// The keys of a question.
const KEYS: &[&str] = &["from", "to", "where", "by", "measures", "per", "order", "limit", "compare", "wait_ms"];

impl Question {
    /// Reads the JSON form. `now`: the present moment, from which times such as `-1h` are counted.
    pub fn from_json(object: &Map<String, Json>, now: Millis) -> Result<Self, Mistake> {
        if let Some(unknown) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let message = format!("a question has no key `{}`; it has `{}`", clipped(unknown), KEYS.join("`, `"));
            return Err(Mistake::new(&Position::Whole, message).meant(nearest(unknown, KEYS)));
        }
        let present = |key: &str| object.get(key).filter(|value| !value.is_null());
        let text =
            |key: &str| present(key).map(|value| Ok((string(value, key)?.to_owned(), Position::part(key)))).transpose();
        let number = |key: &str| number(present(key), key);
        let order = |value: &Json| Ok((text::order(string(value, "order")?, "order", now)?, Position::part("order")));
        Draft {
            from: text("from")?,
            to: text("to")?,
            filter: present("where").map(|value| Filters { now, tests: 0 }.top(value)).transpose()?,
            by: present("by").map_or(Ok(Vec::new()), |value| list(value, "by", key))?,
            measures: present("measures").map_or(Ok(Vec::new()), |value| {
                list(value, "measures", |text, part| -> Result<Measure, Mistake> { text::measure(text, part, now) })
            })?,
            per: text("per")?,
            order: present("order").map(order).transpose()?,
            limit: number("limit")?,
            compare: text("compare")?,
            wait_ms: number("wait_ms")?,
        }
        .check(now)
        .and_then(short)
    }
}

/// The question, if its text form is not too long.
fn short(question: Question) -> Result<Question, Mistake> {
    let bytes = question.to_string().len();
    if bytes <= tokens::TEXT_MAX {
        return Ok(question);
    }
    let message = format!("a question has at most {} bytes in the text form; this has {bytes}", tokens::TEXT_MAX);
    Err(Mistake::new(&Position::Whole, message))
}

fn key(name: &str, part: &str) -> Result<Key, Mistake> {
    names::key(name, &Position::part(part))
}

pub(super) fn string<'a>(value: &'a Json, part: &str) -> Result<&'a str, Mistake> {
    value.as_str().ok_or_else(|| Mistake::new(&Position::part(part), "expected a text in quotes"))
}

/// The whole number of a key, if the key is there.
pub(super) fn number(value: Option<&Json>, key: &str) -> Result<Option<At<u64>>, Mistake> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    match value.as_u64() {
        Some(number) => Ok(Some((number, Position::part(key)))),
        None => Err(Mistake::new(&Position::part(key), "expected a whole number")),
    }
}

/// The texts of a list, each read.
fn list<T>(value: &Json, part: &str, read: impl Fn(&str, &str) -> Result<T, Mistake>) -> Result<Vec<At<T>>, Mistake> {
    let Json::Array(items) = value else { return Err(Mistake::new(&Position::part(part), "expected a list of texts")) };
    let item = |(at, item): (usize, &Json)| {
        let part = format!("{part}[{at}]");
        Ok((read(string(item, &part)?, &part)?, Position::part(&part)))
    };
    items.iter().enumerate().map(item).collect()
}

/// Reads filters, and counts their comparisons.
struct Filters {
    now: Millis,
    tests: usize,
}

impl Filters {
    /// The value of `where`: a list of filters that all hold, or the text form.
    fn top(&mut self, value: &Json) -> Result<Filter, Mistake> {
        match value {
            Json::String(text) => Filter::from_part(text, Some("where"), self.now),
            Json::Array(items) if items.is_empty() => Ok(Filter::All(Vec::new())),
            value => self.all(value, "where", 0),
        }
    }

    fn all(&mut self, value: &Json, part: &str, depth: usize) -> Result<Filter, Mistake> {
        self.list(value, part, depth).map(Filter::all)
    }

    fn list(&mut self, value: &Json, part: &str, depth: usize) -> Result<Vec<Filter>, Mistake> {
        match value {
            Json::Array(items) if items.is_empty() => Err(Mistake::new(&Position::part(part), "the list is empty")),
            // One comparison in place of a list of one.
            Json::Array(items) if items.first().is_some_and(Json::is_string) => Ok(vec![self.test(items, part)?]),
            Json::Array(items) => {
                let one = |(at, item): (usize, &Json)| self.one(item, &format!("{part}[{at}]"), depth);
                items.iter().enumerate().map(one).collect()
            }
            value => Ok(vec![self.one(value, part, depth)?]),
        }
    }

    fn one(&mut self, value: &Json, part: &str, depth: usize) -> Result<Filter, Mistake> {
        let place = Position::part(part);
        if depth >= DEPTH_MAX {
            return Err(Mistake::new(&place, format!("a filter is nested at most {DEPTH_MAX} deep")));
        }
        let expected =
            "expected a comparison such as `[\"status\", \">=\", 500]`, or an object with `any`, `all` or `not`";
        match value {
            Json::Array(items) => self.test(items, part),
            Json::Object(object) => {
                let mut keys = object.iter();
                let (Some((key, value)), None) = (keys.next(), keys.next()) else {
                    return Err(Mistake::new(&place, expected));
                };
                let below = format!("{part}.{key}");
                match key.as_str() {
                    "any" => self.list(value, &below, depth + 1).map(Filter::any),
                    "all" => self.all(value, &below, depth + 1),
                    "not" => Ok(Filter::Not(Box::new(self.all(value, &below, depth + 1)?))),
                    _ => Err(Mistake::new(&place, format!("there is no `{}`; {expected}", clipped(key)))),
                }
            }
            _ => Err(Mistake::new(&place, expected)),
        }
    }

    fn test(&mut self, items: &[Json], part: &str) -> Result<Filter, Mistake> {
        self.tests += 1;
        if self.tests > TESTS_MAX {
            return Err(Mistake::new(&Position::part(part), format!("a question has at most {TESTS_MAX} comparisons")));
        }
        let [name, is, value] = items else {
            let message = "a comparison is a list of three: `[\"status\", \">=\", 500]`";
            return Err(Mistake::new(&Position::part(part), message));
        };
        let item = |at: usize| format!("{part}[{at}]");
        let column = names::column(string(name, &item(0))?, &Position::part(&item(0)))?;
        let is = names::comparison(string(is, &item(1))?, column, &Position::part(&item(1)))?;
        let text = cell(value, column).ok_or_else(|| {
            let message = match column.kind() {
                ColumnKind::Number | ColumnKind::Duration => "expected a number or a text",
                _ => "expected a text in quotes",
            };
            Mistake::new(&Position::part(&item(2)), message)
        })?;
        let value = value::read(&text, column, self.now, &Position::part(&item(2)))?;
        Ok(Filter::Test { column, is, value })
    }
}

/// The value of a comparison as the text form has it. `None`: its form does not fit the column.
fn cell(value: &Json, column: Column) -> Option<String> {
    match (value, column.kind()) {
        (Json::String(text), _) => Some(text.clone()),
        (Json::Number(number), ColumnKind::Number | ColumnKind::Duration) => Some(number.to_string()),
        _ => None,
    }
}

/// The longest body with a question, in bytes. A text that JSON encodes may be twice as long.
pub const QUESTION_BYTES_MAX: u64 = 4 * tokens::TEXT_MAX as u64;
