//! The settings: declared once in [`keys`], read once at the start, each with the place it came from.
//!
//! A flag is stronger than the environment (`DAYLIGHT_SECTION_KEY`), the environment than the file, the file than the default. Defaults
//! are derived from the [`Machine`]. Nothing else reads the environment.

mod acme;
mod alerts;
mod app_pages;
mod app_table;
mod apps;
mod cluster;
mod contradiction;
mod database_contradiction;
pub(crate) mod duration;
mod environment;
mod error;
mod file;
mod findings;
mod key;
mod keys;
mod machine;
mod objects;
mod receivers;
pub(crate) mod references;
mod renamed;
mod repositories;
mod shares;
mod sources;
mod spelling;
mod tls;
mod value;

pub use acme::{Contacts, DirectoryUrl, EabKeyId, SecretReference, ServerNames};
pub(crate) use alerts::MOST as RECEIVERS_MAX;
pub use alerts::{DeclaredReceiver, KEYS as ALERT_KEYS, ReceiverKind};
pub use app_table::{KEYS as APP_KEYS, LANE as LANE_KEYS, PAGES as PAGES_KEYS};
pub use apps::{AppSettings, GivenApp, TlsFiles};
pub use client::Secret;
pub use cluster::{Acknowledge, DatabaseTrust, NodeName, OptionalDatabase};
pub use environment::{Environment, OTHERS as OTHER_VARIABLES};
pub use error::Error;
pub use findings::{DeclaredFinding, KEYS as FINDING_KEYS};
pub use keys::{Acme, Cluster, Server, Settings, Store, Telemetry, Upstream};
pub use machine::Machine;
pub use objects::{Bucket, EndpointUrl, ObjectsUrl, Region};
pub use receivers::{HostPort, ReceiverUrl, VariableName};
pub use references::References;
pub use repositories::DeclaredRepository;
pub(crate) use repositories::toml;
pub use shares::Shares;
pub(crate) use shares::{FORM_BYTES, SMALL_BODY_BYTES};
pub use sources::{Entry, Flag, Origin};
pub use value::{
    AccessLog, JsonLines, Networks, OptionalAddress, OptionalUpstream, Prefix, PublicUrl, ServerTiming,
    StoredPerSecond, UpstreamUrl,
};

pub(crate) use spelling::nearest;

use insight::SettingFact;
use keys::KEYS;
use sources::Sources;
use std::path::{Path, PathBuf};

/// Where each setting came from, for `daylight config show`.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Every key, in the order of declaration.
    pub entries: Vec<Entry>,
    /// Warnings about settings that are harmless and do not fit together.
    pub warnings: Vec<String>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    /// The machine that the defaults were derived from.
    pub machine: Machine,
}

impl Loaded {
    /// The settings, as findings name them.
    pub fn facts(&self) -> Vec<SettingFact> {
        let fact = |entry: &Entry| SettingFact {
            key: entry.key.to_owned(),
            value: entry.value.as_str().map_or_else(|| entry.value.to_string(), str::to_owned),
            number: entry.value.as_u64(),
            limits: KEYS.iter().find(|key| key.path == entry.key).and_then(|key| key.limits),
            live: false,
        };
        self.entries.iter().map(fact).collect()
    }
}

/// Resolves the settings of a server of repositories from the file, if one is named, the environment and the flags.
pub fn load(
    file: Option<&Path>,
    environment: &Environment,
    flags: &[Flag],
    machine: Machine,
) -> Result<(Settings, Loaded), Error> {
    read(file, environment, flags, None, machine)
}

/// The same for `daylight front`, whose command line describes or completes the only application.
pub fn load_front(
    file: Option<&Path>,
    environment: &Environment,
    flags: &[Flag],
    given: &GivenApp,
    machine: Machine,
) -> Result<(Settings, Loaded), Error> {
    read(file, environment, flags, Some(given), machine)
}

/// Resolves the settings. `front`: those of `daylight front`.
fn read(
    file: Option<&Path>,
    environment: &Environment,
    flags: &[Flag],
    front: Option<&GivenApp>,
    machine: Machine,
) -> Result<(Settings, Loaded), Error> {
    let mut sources = Sources::new(KEYS, flags, environment, file)?;
    refuse_other(&sources, front.is_some())?;
    let shares = |machine: &Machine| if front.is_some() { Shares::of_front(machine) } else { Shares::of(machine) };
    let machine = machine.with_data(&sources.data(shares(&machine).data().0)?);
    let shares = shares(&machine);
    let mut settings = Settings::resolve(&shares, &mut sources)?;
    let references = environment.references();
    if let Some(given) = front {
        settings.apps = apps::complete(std::mem::take(&mut sources.apps), given, &shares, &references)?;
    }
    settings.admin_token = environment.admin_token();
    settings.conformance_key = environment.conformance_key();
    let upstream = &settings.upstream;
    let (prefix, folder) = (upstream.credentials_prefix.0.clone(), upstream.credentials_folder.clone());
    settings.references = references.allow_api(prefix, folder);
    settings.repositories = sources.repositories;
    settings.findings = sources.findings;
    settings.alerts = sources.alerts;
    let mut warnings = sources.warnings;
    warnings.extend(contradiction::find(&settings, &machine)?);
    warnings.extend(tls::contradictions(&settings, front.is_some())?);
    warnings.extend(database_contradiction::find(&settings, front.is_some())?);
    warnings.extend(contradiction::unused_json_lines(&settings, &sources.entries));
    warnings.extend(contradiction::unused_of_objects(&settings, &sources.entries));
    Ok((settings, Loaded { entries: sources.entries, warnings, file: file.map(Path::to_owned), machine }))
}

/// Refuses the tables of the other kind of server: it would not do what they say.
fn refuse_other(sources: &Sources<'_>, is_front: bool) -> Result<(), Error> {
    let (text, hint) = match (is_front, &sources.apps[..], &sources.repositories[..]) {
        (false, [app, ..], _) => (
            format!(
                "{}: `[[app]]` is for `daylight front`, and this command is for a server of repositories",
                app.place()
            ),
            "run `daylight front --config FILE`, or move the table into a file of its own",
        ),
        (true, _, [repository, ..]) => (
            format!(
                "{}: `[[repository]]` is for `daylight serve`, and `daylight front` has no repositories",
                repository.place
            ),
            "run `daylight serve --config FILE`, or move the table into a file of its own",
        ),
        _ => return Ok(()),
    };
    Err(Error::Contradiction { text, hint: hint.to_owned() })
}

/// Reads again which repositories the file declares.
pub fn repositories(file: &Path) -> Result<Vec<DeclaredRepository>, Error> {
    Ok(file::read(file, KEYS)?.repositories)
}

#[cfg(test)]
mod tests;
