//! Maven on a machine with an empty local repository, and a project with many dependencies.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const PROJECT: &str = include_str!("project.xml");
const CODE: &str = "public class Lamp {}\n";

/// Builds the project with all dependencies from this URL, with the Maven in this folder. Returns the time that it took.
pub(crate) fn build(maven: &Path, url: &str) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let (home, code) = (folder.path(), folder.path().join("src/main/java"));
    fs::create_dir_all(&code)?;
    fs::write(code.join("Lamp.java"), CODE)?;
    fs::write(home.join("pom.xml"), PROJECT)?;
    let mirror = format!("<mirror><id>mirror</id><mirrorOf>*</mirrorOf><url>{url}</url></mirror>");
    fs::write(home.join("settings.xml"), format!("<settings><mirrors>{mirror}</mirrors></settings>"))?;
    let mut command = Command::new(maven.join("bin/mvn"));
    command
        .args(["--batch-mode", "--quiet", "--settings", "settings.xml", "package"])
        .arg(format!("-Dmaven.repo.local={}", home.join("repository").display()))
        .current_dir(home)
        .env("MAVEN_SKIP_RC", "1")
        // Java asks the system, not the environment, for the home folder. A build here is too short to be optimised.
        .env("MAVEN_OPTS", format!("-Duser.home={} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC", home.display()));
    let began = Instant::now();
    let said = command.output().with_context(|| format!("running {command:?}"))?;
    let took = began.elapsed();
    ensure!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stdout));
    Ok(took)
}
