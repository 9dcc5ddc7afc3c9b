//! A table of the configuration file with lists and numbers, as `[[app]]`, `[[app.lane]]`, `[app.pages]` and `[[finding]]` are: each value is read with
//! its line, and unknown keys are refused.

use super::error::Error;
use super::spelling::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of `[[app]]`.
pub const KEYS: &[&str] = &[
    "app.name",
    "app.hosts",
    "app.listen",
    "app.to",
    "app.slots",
    "app.health",
    "app.answer_timeout_s",
    "app.cache_bytes",
    "app.spool_bytes",
    "app.preset",
    "app.sendfile_roots",
    "app.tls_certificate",
    "app.tls_key",
    "app.lane",
    "app.pages",
];
/// The keys of `[[app.lane]]`.
pub const LANE: &[&str] = &["app.lane.paths", "app.lane.slots"];
/// The keys of `[app.pages]`.
pub const PAGES: &[&str] = &[
    "app.pages.format",
    "app.pages.servers",
    "app.pages.keys",
    "app.pages.namespace",
    "app.pages.tolerance_s",
    "app.pages.timeout_ms",
    "app.pages.value_bytes",
    "app.pages.credentials",
    "app.pages.bypass_cookies",
];

/// A table, and how a place in its file is written.
pub(super) struct AppTable<'a> {
    body: &'a DeTable<'a>,
    place_of: &'a dyn Fn(usize) -> String,
    /// File and line of its beginning.
    pub(super) place: String,
}

impl<'a> AppTable<'a> {
    /// The table `name`. Refuses keys that are not among `keys`, which have its name and a dot before their own.
    pub(super) fn new(
        name: &str,
        keys: &'static [&'static str],
        body: &'a DeTable<'a>,
        at: usize,
        place_of: &'a dyn Fn(usize) -> String,
    ) -> Result<Self, Error> {
        for (key, _) in body {
            let (place, written) = (place_of(key.span().start), format!("{name}.{}", key.get_ref()));
            if !keys.contains(&written.as_str()) {
                let nearest = nearest(key.get_ref(), keys.iter().map(|key| last(key)));
                return Err(Error::Unknown { place, name: written, nearest });
            }
        }
        Ok(Self { body, place_of, place: place_of(at) })
    }

    /// The value of a key, and its place.
    fn value(&self, key: &str) -> Option<(&'a Spanned<DeValue<'a>>, String)> {
        let (name, value) = self.body.iter().find(|(name, _)| name.get_ref() == last(key))?;
        Some((value, (self.place_of)(name.span().start)))
    }

    /// The place of a key, if it is there.
    pub(super) fn place_of_key(&self, key: &str) -> Option<String> {
        self.value(key).map(|(_, place)| place)
    }

    /// A text that is not empty, and its place.
    pub(super) fn text(&self, key: &'static str) -> Result<Option<(String, String)>, Error> {
        let Some((value, place)) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) if is_filled(text) => Ok(Some((text.to_string(), place))),
            other => Err(invalid(key, "a text that is not empty", other, place)),
        }
    }

    /// A list of texts, each with its place; one text is a list of one.
    pub(super) fn texts(&self, key: &'static str) -> Result<Vec<(String, String)>, Error> {
        const EXPECTS: &str = "a text or a list of texts that are not empty";
        let Some((value, place)) = self.value(key) else { return Ok(Vec::new()) };
        let one = |value: &Spanned<DeValue<'_>>, place: String| match value.get_ref() {
            DeValue::String(text) if is_filled(text) => Ok((text.to_string(), place)),
            other => Err(invalid(key, EXPECTS, other, place)),
        };
        match value.get_ref() {
            DeValue::Array(all) => all.iter().map(|each| one(each, (self.place_of)(each.span().start))).collect(),
            _ => Ok(vec![one(value, place)?]),
        }
    }

    /// A whole number from `low` to `high`.
    pub(super) fn number(&self, key: &'static str, low: u64, high: u64) -> Result<Option<u64>, Error> {
        let Some((value, place)) = self.value(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number.filter(|number| (low..=high).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(invalid(key, &format!("a whole number from {low} to {high}"), value.get_ref(), place)),
        }
    }

    /// A number with or without a fraction.
    pub(super) fn decimal(&self, key: &'static str) -> Result<Option<f64>, Error> {
        let Some((value, place)) = self.value(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n as f64),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        match number.filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(invalid(key, "a number", value.get_ref(), place)),
        }
    }

    /// The tables `[[KEY]]` of this one.
    pub(super) fn tables(&self, key: &'static str, keys: &'static [&'static str]) -> Result<Vec<AppTable<'a>>, Error> {
        let Some((value, place)) = self.value(key) else { return Ok(Vec::new()) };
        let form = |place| Error::NotToml { place, message: format!("write `[[{key}]]`, once for each") };
        let DeValue::Array(all) = value.get_ref() else { return Err(form(place)) };
        let mut tables = Vec::with_capacity(all.len());
        for table in all {
            let at = table.span().start;
            let DeValue::Table(body) = table.get_ref() else { return Err(form((self.place_of)(at))) };
            tables.push(AppTable::new(key, keys, body, at, self.place_of)?);
        }
        Ok(tables)
    }

    /// The table `[KEY]` of this one.
    pub(super) fn table(
        &self,
        key: &'static str,
        keys: &'static [&'static str],
    ) -> Result<Option<AppTable<'a>>, Error> {
        let Some((value, place)) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(body) => AppTable::new(key, keys, body, value.span().start, self.place_of)
                .map(|table| Some(Self { place, ..table })),
            _ => Err(Error::NotToml { place, message: format!("write `[{key}]`, once after its `[[app]]`") }),
        }
    }
}

/// The name of a key without its table.
fn last(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

fn is_filled(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}

fn invalid(key: &'static str, expects: &str, value: &DeValue<'_>, place: String) -> Error {
    let value = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        other => format!("a TOML {}", other.type_str()),
    };
    Error::Invalid { place, key, expects: expects.to_owned(), value }
}
