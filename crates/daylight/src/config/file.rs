//! The configuration file: TOML with two levels, `[section]` and `key = value`, tables of repositories, and nothing that is
//! not known.

use super::error::Error;
use super::given::nearest;
use super::keys::KEYS;
use super::repositories::{self, DeclaredRepository};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Far above any real file; keeps a wrong `--config` from being read for minutes.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A value as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// `section.key`, known to exist.
    pub(super) key: &'static str,
    /// Without quotes; numbers without underscores, in base 10.
    pub(super) text: String,
    /// Whether it was a string.
    pub(super) quoted: bool,
    /// From 1.
    pub(super) line: usize,
}

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The keys that it sets.
    pub(super) written: Vec<Written>,
    /// The repositories that it declares.
    pub(super) repositories: Vec<DeclaredRepository>,
}

/// Reads it.
pub(super) fn read(path: &Path) -> Result<Read, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(file, FILE_MAX_BYTES + 1), &mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE_MAX_BYTES {
        return Err(unreadable(std::io::Error::other("it is larger than 1 MiB")));
    }
    parse(&path.display().to_string(), &text)
}

/// `name` stands in messages.
pub(super) fn parse(name: &str, text: &str) -> Result<Read, Error> {
    let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let place = |at: usize| format!("{name}:{}", line(at));
    let table = DeTable::parse(text).map_err(|error| Error::NotToml {
        place: place(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut read = Read::default();
    for (section, body) in table.get_ref() {
        let at = section.span().start;
        let name: &str = section.get_ref();
        if name == repositories::NAME {
            read.repositories = repositories::read(body, at, place)?;
            continue;
        }
        if !KEYS.iter().any(|key| key.section == name) {
            let known = KEYS.iter().map(|key| key.section).chain([repositories::NAME]);
            return Err(Error::Unknown { place: place(at), name: name.to_owned(), nearest: nearest(name, known) });
        }
        let DeValue::Table(body) = body.get_ref() else {
            let message = format!("`{name}` is a section: write `[{name}]`");
            return Err(Error::NotToml { place: place(at), message });
        };
        for (key, value) in body {
            read.written.push(one(name, key, value, line(key.span().start), &place(key.span().start))?);
        }
    }
    Ok(read)
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

fn one(section: &str, key: &Key<'_>, value: &Spanned<DeValue<'_>>, line: usize, place: &str) -> Result<Written, Error> {
    let name: &str = key.get_ref();
    let Some(declared) = KEYS.iter().find(|key| key.section == section && key.name == name) else {
        let known = KEYS.iter().filter(|key| key.section == section).map(|key| key.name);
        let nearest = nearest(name, known);
        return Err(Error::Unknown { place: place.to_owned(), name: format!("{section}.{name}"), nearest });
    };
    let (text, quoted) = match value.get_ref() {
        DeValue::String(text) => (text.to_string(), true),
        DeValue::Integer(number) => {
            let read = u64::from_str_radix(number.as_str(), number.radix());
            (read.map_or_else(|_| number.to_string(), |number| number.to_string()), false)
        }
        DeValue::Boolean(yes) => (yes.to_string(), false),
        other => {
            return Err(Error::Invalid {
                place: place.to_owned(),
                key: declared.path,
                expects: declared.expects.to_owned(),
                value: format!("a TOML {}", other.type_str()),
            });
        }
    };
    Ok(Written { key: declared.path, text, quoted, line })
}
