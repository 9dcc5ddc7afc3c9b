//! An application's gems, of both kinds, and a machine on which Bundler installs them.

use crate::gem::{Gem, hex};
use crate::process::Server;
use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The number of gems of each kind that an application needs.
const PUBLIC_GEMS: usize = 50;
const OWN_GEMS: usize = 10;
/// The number of incompressible bytes in each.
const PAYLOAD: usize = 40_000;

/// Gems of the first upstream, and gems that are pushed to the hosted repository.
pub(super) struct Kit {
    pub(super) public: Vec<Gem>,
    pub(super) own: Vec<Gem>,
}

impl Kit {
    pub(super) fn new() -> Self {
        let gem =
            |name: String, salt: usize| Gem::new(&name, "1.0.0").payload(&crate::push::noise(salt as u64, PAYLOAD));
        Self {
            public: (0..PUBLIC_GEMS).map(|number| gem(format!("kit-part-{number}"), number)).collect(),
            own: (0..OWN_GEMS).map(|number| gem(format!("our-kit-part-{number}"), 100 + number)).collect(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.public.iter().chain(&self.own).map(|gem| &*gem.name)
    }

    /// All files that Bundler requests.
    pub(super) fn paths(&self) -> Vec<String> {
        let files = self.names().flat_map(|name| [format!("info/{name}"), format!("gems/{name}-1.0.0.gem")]);
        ["versions".to_owned()].into_iter().chain(files).collect()
    }

    /// The Gemfile of an application that needs all of them.
    pub(super) fn gemfile(&self, source: &str) -> String {
        let gems: String = self.names().map(|name| format!("gem \"{name}\"\n")).collect();
        format!("source \"{source}\"\n{gems}")
    }
}

/// `/info` of a gem with one version.
pub(super) fn info(gem: &Gem, bytes: &[u8]) -> String {
    format!("---\n{} |checksum:{}\n", gem.version, hex(&Sha256::digest(bytes)))
}

/// A machine with Bundler on it.
pub(super) struct Machine(TempDir);

impl Machine {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    /// Installs the gems of this Gemfile, as if none were installed. The machine keeps its cached indexes.
    pub(super) fn install(&self, gemfile: &str) -> Result<()> {
        let app = self.path("app");
        fs::create_dir_all(&app)?;
        for gone in ["installed", "app/Gemfile.lock", "bundle/cache/gems"] {
            let gone = self.path(gone);
            match fs::metadata(&gone) {
                Ok(kind) if kind.is_dir() => fs::remove_dir_all(gone)?,
                Ok(_) => fs::remove_file(gone)?,
                Err(_) => {}
            }
        }
        fs::write(app.join("Gemfile"), gemfile)?;
        self.bundle(&["install"])
    }

    /// Updates all gems to the newest version.
    pub(super) fn update(&self) -> Result<()> {
        self.bundle(&["update", "--all"])
    }

    fn bundle(&self, arguments: &[&str]) -> Result<()> {
        let app = self.path("app");
        let mut command = Command::new("bundle");
        command
            .args(arguments)
            .current_dir(&app)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LANG", "C.UTF-8")
            .env("HOME", self.0.path())
            .env("GEM_HOME", self.path("gems"))
            .env("BUNDLE_USER_HOME", self.path("bundle"))
            .env("BUNDLE_APP_CONFIG", app.join(".bundle"))
            .env("BUNDLE_PATH", self.path("installed"))
            .env("BUNDLE_SILENCE_ROOT_WARNING", "1")
            .env("no_proxy", "127.0.0.1");
        let said = command.output().context("running Bundler")?;
        ensure!(
            said.status.success(),
            "{command:?}: {}{}",
            String::from_utf8_lossy(&said.stdout),
            String::from_utf8_lossy(&said.stderr)
        );
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Copies the same files for nginx.
pub(super) fn copy(kit: &Kit, server: &Server, group: &str, files: &Path) -> Result<()> {
    for path in kit.paths() {
        let bytes = crate::hit::read(server, &format!("/repository/{group}/{path}"))?;
        let file = files.join(&path);
        fs::create_dir_all(file.parent().context("a folder")?)?;
        fs::write(file, bytes)?;
    }
    Ok(())
}
