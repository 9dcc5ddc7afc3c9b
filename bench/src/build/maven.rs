//! A machine with Maven and an empty local repository, and a project with many dependencies.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The folder of Debian's Maven, which is 3.8.
pub(crate) const DEBIAN: &str = "/usr";

const PROJECT: &str = include_str!("project.xml");
const CODE: &str = "public class Lamp {}\n";

pub(crate) struct Machine {
    folder: TempDir,
    maven: PathBuf,
}

impl Machine {
    /// A machine with the Maven in this folder.
    pub(crate) fn new(home: impl AsRef<Path>) -> Result<Self> {
        Ok(Self { folder: tempfile::tempdir()?, maven: home.as_ref().join("bin/mvn") })
    }

    /// Builds the project with all dependencies from this URL. Returns the number of downloaded files.
    pub(crate) fn build(&self, url: &str) -> Result<usize> {
        let home = self.folder.path();
        let code = home.join("src/main/java");
        fs::create_dir_all(&code)?;
        fs::write(code.join("Lamp.java"), CODE)?;
        fs::write(home.join("pom.xml"), PROJECT)?;
        let mirror = format!("<mirror><id>mirror</id><mirrorOf>*</mirrorOf><url>{url}</url></mirror>");
        fs::write(home.join("settings.xml"), format!("<settings><mirrors>{mirror}</mirrors></settings>"))?;
        let local = home.join("repository");
        let mut command = Command::new(&self.maven);
        command
            .args(["--batch-mode", "--quiet", "--settings", "settings.xml", "package"])
            .arg(format!("-Dmaven.repo.local={}", local.display()))
            .current_dir(home)
            .env("MAVEN_SKIP_RC", "1")
            // Java asks the system, not the environment, for the home folder. A build here is too short to be optimised.
            .env("MAVEN_OPTS", format!("-Duser.home={} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC", home.display()));
        let said = command.output().with_context(|| format!("running {command:?}"))?;
        ensure!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stdout));
        count(&local)
    }
}

/// Counts the files below a folder, without Maven's own notes and checksums.
fn count(folder: &Path) -> Result<usize> {
    let mut files = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let note = name.starts_with('_') || name == "resolver-status.properties";
        files += match path.is_dir() {
            true => count(&path)?,
            false => usize::from(!note && !name.ends_with(".lastUpdated") && !name.ends_with(".sha1")),
        };
    }
    Ok(files)
}
