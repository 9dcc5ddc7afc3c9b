//! What somebody has set, by strength, and the notes that are kept about each key while it is resolved.

use super::Environment;
use super::error::Error;
use super::file::{self, Written};
use super::keys::KEYS;
use super::repositories::DeclaredRepository;
use super::value::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The key that names the data folder.
const DATA: &str = "store.data";
/// Where it is unless somebody says otherwise.
pub(super) const DEFAULT_DATA: &str = "./daylight-data";

/// What is known of a key before anything is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    pub(super) path: &'static str,
    pub(super) doc: &'static str,
    pub(super) expects: &'static str,
    pub(super) quoted: bool,
    pub(super) limits: Option<(u64, u64)>,
}

impl Declared {
    /// `DAYLIGHT_SECTION_KEY`.
    pub(super) fn variable(&self) -> String {
        format!("DAYLIGHT_{}_{}", self.section, self.name).to_uppercase()
    }

    fn expects(&self) -> String {
        match self.limits {
            Some((low, high)) => format!("{} from {low} to {high}", self.expects),
            None => self.expects.to_owned(),
        }
    }
}

/// A flag of the command line that stands for a key.
#[derive(Debug, Clone)]
pub struct Flag {
    /// `section.key`.
    pub key: &'static str,
    /// As it is written: `--listen`.
    pub flag: &'static str,
    /// Its value.
    pub value: String,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The file.
    File {
        /// Its path as it was given.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// One setting as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// `section.key`.
    pub key: &'static str,
    /// The variable that sets it: `DAYLIGHT_SECTION_KEY`.
    pub variable: String,
    /// What is in force.
    pub value: serde_json::Value,
    /// Who said so.
    pub origin: Origin,
    /// Why the default is what it is.
    pub reason: Cow<'static, str>,
    /// What the default would be here.
    pub default: serde_json::Value,
    /// What it is about.
    pub doc: &'static str,
}

/// Flags, environment and file, and the entries made so far.
#[derive(Debug)]
pub(super) struct Given<'a> {
    flags: &'a [Flag],
    environment: &'a Environment,
    file: Vec<Written>,
    path: PathBuf,
    pub(super) warnings: Vec<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) repositories: Vec<DeclaredRepository>,
}

impl<'a> Given<'a> {
    /// Reads the file and refuses names that nobody declared.
    pub(super) fn new(flags: &'a [Flag], environment: &'a Environment, path: Option<&Path>) -> Result<Self, Error> {
        let warnings = environment.refuse_unknown()?;
        let file = path.map(file::read).transpose()?.unwrap_or_default();
        let path = path.map(Path::to_owned).unwrap_or_default();
        let (file, repositories) = (file.written, file.repositories);
        Ok(Self { flags, environment, file, path, warnings, entries: Vec::with_capacity(KEYS.len()), repositories })
    }

    /// The value of the next key: the strongest that is set, or the default.
    pub(super) fn take<'k, T: Value>(
        &mut self,
        declared: &mut impl Iterator<Item = &'k Declared>,
        (default, reason): (T, Cow<'static, str>),
    ) -> Result<T, Error> {
        let Some(key) = declared.next() else { return Ok(default) };
        let default_shown = default.json();
        let (value, origin) = match self.find(key)? {
            Some((text, origin)) => (read(key, &text, &origin)?, origin),
            None => (default, Origin::Default),
        };
        self.entries.push(Entry {
            key: key.path,
            variable: key.variable(),
            value: value.json(),
            origin,
            reason,
            default: default_shown,
            doc: key.doc.trim(),
        });
        Ok(value)
    }

    /// Where the data folder is: what some defaults depend on.
    pub(super) fn data(&self) -> Result<PathBuf, Error> {
        let key = KEYS.iter().find(|key| key.path == DATA);
        let found = key.map(|key| self.find(key)).transpose()?.flatten();
        Ok(found.map_or_else(|| DEFAULT_DATA.into(), |(text, _)| text.into()))
    }

    fn find(&self, key: &Declared) -> Result<Option<(String, Origin)>, Error> {
        if let Some(flag) = self.flags.iter().find(|flag| flag.key == key.path) {
            return Ok(Some((flag.value.clone(), Origin::Flag(flag.flag))));
        }
        if let Some(text) = self.environment.get(&key.variable()) {
            return Ok(Some((text.to_owned(), Origin::Environment(key.variable()))));
        }
        let Some(written) = self.file.iter().find(|written| written.key == key.path) else { return Ok(None) };
        let origin = Origin::File { path: self.path.clone(), line: written.line };
        // A number in quotes would work, until somebody reads the file with another program.
        if written.quoted != key.quoted {
            return Err(invalid(key, &written.text, &origin));
        }
        Ok(Some((written.text.clone(), origin)))
    }
}

fn read<T: Value>(key: &Declared, text: &str, origin: &Origin) -> Result<T, Error> {
    let value = T::parse(text).ok_or_else(|| invalid(key, text, origin))?;
    match (value.number(), key.limits) {
        (Some(number), Some((low, high))) if number < low || number > high => Err(invalid(key, text, origin)),
        _ => Ok(value),
    }
}

fn invalid(key: &Declared, text: &str, origin: &Origin) -> Error {
    Error::Invalid { place: origin.to_string(), key: key.path, expects: key.expects(), value: text.to_owned() }
}

/// The known name that `name` resembles most, if it resembles any.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|known| (strsim::damerau_levenshtein(name, known), known));
    let (distance, known) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + name.len() / 3).then(|| known.to_owned())
}
