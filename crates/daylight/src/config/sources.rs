//! The sources of settings: flags before the environment before the file. Records where the value of each key came from.

use super::alerts::DeclaredReceiver;
use super::apps::DeclaredApp;
use super::environment::Environment;
use super::error::Error;
use super::file::{self, FileValue};
use super::findings::DeclaredFinding;
use super::key::KeySpec;
use super::renamed;
use super::repositories::DeclaredRepository;
use super::value::Value;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// The keys that refer to a secret, in place of which somebody may write the secret.
const REFERRING: [&str; 4] =
    ["telemetry.otlp_headers_env", "server.acme.eab_key", "cluster.database_password", "store.credentials"];
/// The key that names the data folder.
const DATA: &str = "store.data";

/// A flag of the command line that sets a key.
#[derive(Debug, Clone)]
pub struct Flag {
    /// `section.key`.
    pub key: &'static str,
    /// Its name, such as `--listen`.
    pub flag: &'static str,
    /// Its value.
    pub value: String,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// No source sets the key.
    Default,
    /// The file.
    File {
        /// The path of the file.
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

/// A key with its value, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// `section.key`.
    pub key: &'static str,
    /// The variable that sets it: `DAYLIGHT_SECTION_KEY`.
    pub variable: String,
    /// Its value.
    pub value: serde_json::Value,
    /// Where the value came from.
    pub origin: Origin,
    /// Why the default is what it is.
    pub reason: Cow<'static, str>,
    /// The default on this machine.
    pub default: serde_json::Value,
    /// The effect of the key.
    pub doc: &'static str,
    /// The form of its value, in words.
    pub expects: &'static str,
    /// The smallest and the largest value of a number.
    pub limits: Option<(u64, u64)>,
    /// The former name of the key, which is accepted with a warning.
    pub formerly: Option<&'static str>,
}

/// Flags, environment and file, and the entries of the keys that were resolved so far.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    keys: &'static [KeySpec],
    flags: &'a [Flag],
    environment: &'a Environment,
    file: Vec<FileValue>,
    path: PathBuf,
    pub(super) warnings: Vec<String>,
    pub(super) entries: Vec<Entry>,
    pub(super) repositories: Vec<DeclaredRepository>,
    pub(super) apps: Vec<DeclaredApp>,
    pub(super) findings: Vec<DeclaredFinding>,
    pub(super) alerts: Vec<DeclaredReceiver>,
}

impl<'a> Sources<'a> {
    /// Reads the file. Refuses names that are not among `keys`.
    pub(super) fn new(
        keys: &'static [KeySpec],
        flags: &'a [Flag],
        environment: &'a Environment,
        path: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut warnings = environment.refuse_unknown(keys)?;
        let file = path.map(|path| file::read(path, keys)).transpose()?.unwrap_or_default();
        let path = path.map(Path::to_owned).unwrap_or_default();
        warnings.extend(file.warnings);
        let (file, repositories, apps, findings, alerts) =
            (file.values, file.repositories, file.apps, file.findings, file.alerts);
        let entries = Vec::with_capacity(keys.len());
        Ok(Self { keys, flags, environment, file, path, warnings, entries, repositories, apps, findings, alerts })
    }

    /// Resolves the next key: the value of the strongest source that sets it, or the default.
    pub(super) fn take<'k, T: Value>(
        &mut self,
        keys: &mut impl Iterator<Item = &'k KeySpec>,
        default: T,
        reason: Cow<'static, str>,
    ) -> Result<T, Error> {
        let Some(key) = keys.next() else { return Ok(default) };
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
            expects: key.expects,
            limits: key.limits,
            formerly: renamed::old_name(key),
        });
        Ok(value)
    }

    /// The data folder, on which some defaults depend.
    pub(super) fn data(&self, default: PathBuf) -> Result<PathBuf, Error> {
        let key = self.keys.iter().find(|key| key.path == DATA);
        let found = key.map(|key| self.find(key)).transpose()?.flatten();
        Ok(found.map_or(default, |(text, _)| text.into()))
    }

    fn find(&self, key: &KeySpec) -> Result<Option<(String, Origin)>, Error> {
        if let Some(flag) = self.flags.iter().find(|flag| flag.key == key.path) {
            return Ok(Some((flag.value.clone(), Origin::Flag(flag.flag))));
        }
        for variable in std::iter::once(key.variable()).chain(renamed::old_variable(key)) {
            if let Some(text) = self.environment.get(&variable) {
                return Ok(Some((text.to_owned(), Origin::Environment(variable))));
            }
        }
        let Some(value) = self.file.iter().find(|value| value.key == key.path) else { return Ok(None) };
        let origin = Origin::File { path: self.path.clone(), line: value.line };
        // A number in quotes could be read here, but not by other programs that read the file.
        if value.quoted != key.quoted && !key.either {
            return Err(invalid(key, &value.text, &origin));
        }
        Ok(Some((value.text.clone(), origin)))
    }
}

fn read<T: Value>(key: &KeySpec, text: &str, origin: &Origin) -> Result<T, Error> {
    let value = T::parse(text).ok_or_else(|| invalid(key, text, origin))?;
    match (value.number(), key.limits) {
        (Some(number), Some((low, high))) if number < low || number > high => Err(invalid(key, text, origin)),
        _ => Ok(value),
    }
}

fn invalid(key: &KeySpec, text: &str, origin: &Origin) -> Error {
    Error::Invalid { place: origin.to_string(), key: key.path, expects: key.expected(), value: shown(key, text) }
}

/// A value as a message shows it: a URL without the part that may hold a password, and nothing of a secret in place of a reference.
fn shown(key: &KeySpec, text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        _ if REFERRING.contains(&key.path) => "***".to_owned(),
        (Some(scheme), Some(at)) if scheme < at => format!("{}://***{}", &text[..scheme], &text[at..]),
        _ => text.to_owned(),
    }
}
