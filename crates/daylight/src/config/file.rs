//! Parses the configuration file: TOML with two levels, `[section]` and `key = value`, sections of sections (`[server.acme]`), and tables of repositories, applications, findings and
//! receivers of alerts.
//! Unknown names are refused.

use super::alerts::{self, DeclaredReceiver};
use super::apps::{self, DeclaredApp};
use super::error::Error;
use super::findings::{self, DeclaredFinding};
use super::key::KeySpec;
use super::renamed;
use super::repositories::{self, DeclaredRepository};
use super::spelling::nearest;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Far above any real file, so that a wrong `--config` is not read for minutes.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A value in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileValue {
    /// `section.key`, one of the known keys.
    pub(super) key: &'static str,
    /// Without quotes; numbers without underscores, in base 10.
    pub(super) text: String,
    /// Whether it was a string.
    pub(super) quoted: bool,
    /// From 1.
    pub(super) line: usize,
}

/// The contents of the file.
#[derive(Debug, Default)]
pub(super) struct FileContents {
    pub(super) values: Vec<FileValue>,
    pub(super) repositories: Vec<DeclaredRepository>,
    pub(super) apps: Vec<DeclaredApp>,
    pub(super) findings: Vec<DeclaredFinding>,
    pub(super) alerts: Vec<DeclaredReceiver>,
    /// About old names of keys.
    pub(super) warnings: Vec<String>,
}

/// Reads and parses the file.
pub(super) fn read(path: &Path, keys: &[KeySpec]) -> Result<FileContents, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(file, FILE_MAX_BYTES + 1), &mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE_MAX_BYTES {
        return Err(unreadable(std::io::Error::other("it is larger than 1 MiB")));
    }
    parse(&path.display().to_string(), &text, keys)
}

/// Parses a text. `name` is the name of the file, for messages.
fn parse(name: &str, text: &str, keys: &[KeySpec]) -> Result<FileContents, Error> {
    let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    let place = |at: usize| format!("{name}:{}", line(at));
    let table = DeTable::parse(text).map_err(|error| Error::NotToml {
        place: place(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let (mut contents, mut by_old_names) = (FileContents::default(), Vec::new());
    let mut sections = Vec::new();
    for (section, body) in table.get_ref() {
        let at = section.span().start;
        let name: &str = section.get_ref();
        if name == repositories::NAME {
            contents.repositories = repositories::read(body, at, place)?;
            continue;
        }
        if name == apps::NAME {
            contents.apps = apps::read(body, at, place)?;
            continue;
        }
        if name == findings::NAME {
            contents.findings = findings::read(body, at, place)?;
            continue;
        }
        if name == alerts::NAME {
            contents.alerts = alerts::read(body, at, place)?;
            continue;
        }
        if !keys.iter().any(|key| key.section == name) {
            let tables = [repositories::NAME, apps::NAME, findings::NAME, alerts::NAME];
            let known = keys.iter().map(|key| key.section).chain(tables);
            return Err(Error::Unknown { place: place(at), name: name.to_owned(), nearest: nearest(name, known) });
        }
        sections.push((name.to_owned(), at, body));
    }
    while let Some((name, at, body)) = sections.pop() {
        let DeValue::Table(body) = body.get_ref() else {
            let message = format!("`{name}` is a section, not a setting: write `[{name}]`");
            return Err(Error::NotToml { place: place(at), message });
        };
        for (key, value) in body {
            let at = key.span().start;
            let full = format!("{name}.{}", key.get_ref());
            if keys.iter().any(|key| key.section == full) {
                sections.push((full, at, value));
                continue;
            }
            if let Some(spec) = renamed::key_of(keys, &full) {
                contents.warnings.push(renamed::warning(&place(at), &full, spec.path));
                by_old_names.push(file_value(spec, value, line(at), &place(at))?);
                continue;
            }
            let spec = spec(keys, &name, key.get_ref(), &place(at))?;
            contents.values.push(file_value(spec, value, line(at), &place(at))?);
        }
    }
    // The first value of a key counts: that with its present name.
    contents.values.append(&mut by_old_names);
    Ok(contents)
}

/// The key of that name in a section.
fn spec<'k>(keys: &'k [KeySpec], section: &str, name: &str, place: &str) -> Result<&'k KeySpec, Error> {
    keys.iter().find(|key| key.section == section && key.name == name).ok_or_else(|| {
        let below = |key: &'k KeySpec| key.section.strip_prefix(section)?.strip_prefix('.');
        let known = keys.iter().filter(|key| key.section == section).map(|key| key.name);
        let known = known.chain(keys.iter().filter_map(below));
        Error::Unknown { place: place.to_owned(), name: format!("{section}.{name}"), nearest: nearest(name, known) }
    })
}

fn file_value(key: &KeySpec, value: &Spanned<DeValue<'_>>, line: usize, place: &str) -> Result<FileValue, Error> {
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
                key: key.path,
                expects: key.expects.to_owned(),
                value: format!("a TOML {}", other.type_str()),
            });
        }
    };
    Ok(FileValue { key: key.path, text, quoted, line })
}
