//! Every setting there is: declared once in [`keys`], read once at start, with the place it came from.
//!
//! What wins, from the strongest: a flag, the environment (`DAYLIGHT_SECTION_KEY`), the file, the default. Defaults
//! are derived from the [`Machine`]. Nobody reads the environment later, and nobody else reads it at all.

mod contradiction;
mod environment;
mod error;
mod file;
mod given;
mod keys;
mod machine;
pub(crate) mod references;
mod repositories;
mod shares;
mod value;

pub use client::Secret;
pub use environment::Environment;
pub use error::Error;
pub use given::{Entry, Flag, Origin};
pub use keys::{Server, Settings, Store, Telemetry, Upstream};
pub use machine::Machine;
pub use references::References;
pub use repositories::DeclaredRepository;
pub(crate) use repositories::toml;
pub(crate) use shares::FORM_BYTES;
pub use shares::Shares;
pub use value::{AccessLog, Networks, Prefix, PublicUrl, UpstreamUrl};

use std::path::{Path, PathBuf};

/// Where each setting came from, for people: what `daylight config show` prints.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Every key, in the order of declaration.
    pub entries: Vec<Entry>,
    /// Sentences about settings that do not fit together but do no harm.
    pub warnings: Vec<String>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    /// What the defaults were derived from.
    pub machine: Machine,
}

/// Reads the file, if one is named, and puts flags and environment over it.
pub fn load(
    file: Option<&Path>,
    environment: &Environment,
    flags: &[Flag],
    machine: Machine,
) -> Result<(Settings, Loaded), Error> {
    let mut given = given::Given::new(flags, environment, file)?;
    let machine = machine.with_data(&given.data()?);
    let mut settings = Settings::resolve(&Shares::of(&machine), &mut given)?;
    settings.admin_token = environment.admin_token();
    settings.conformance_key = environment.conformance_key();
    settings.references = environment.references().open_to_api(&settings.upstream);
    settings.repositories = given.repositories;
    let mut warnings = given.warnings;
    warnings.extend(contradiction::find(&settings, &machine)?);
    Ok((settings, Loaded { entries: given.entries, warnings, file: file.map(Path::to_owned), machine }))
}

/// The repositories that the file declares, read again.
pub fn repositories(file: &Path) -> Result<Vec<DeclaredRepository>, Error> {
    Ok(file::read(file)?.repositories)
}

#[cfg(test)]
mod tests;
