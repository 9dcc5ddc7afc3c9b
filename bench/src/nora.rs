//! NORA (crate `nora-registry`), which people install by hand: `cargo install nora-registry --version 1.4.3`.

use crate::process::{self, Server, free_port};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Its one tree for Maven.
pub(crate) const ROOT: &str = "/maven2/";

/// Its program, in a folder of `PATH` or where `cargo install` puts programs. Where there is none, a line says so.
pub(crate) fn program() -> Result<Option<PathBuf>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo = std::env::home_dir().map(|home| home.join(".cargo/bin"));
    let found = std::env::split_paths(&path).chain(cargo).map(|folder| folder.join("nora")).find(|file| file.exists());
    match &found {
        Some(program) => println!("version: {}", process::said(&program.to_string_lossy(), &["--version"])?),
        None => {
            println!("NORA is left out: there is no `nora`; `cargo install nora-registry --version 1.4.3` installs it")
        }
    }
    Ok(found)
}

/// Starts it on an empty folder, for this upstream. Its limit of requests by address is off: with it one build is refused.
pub(crate) fn start(program: &Path, upstream: &str, folder: &Path) -> Result<Server> {
    let port = free_port()?;
    let mut command = Command::new(program);
    command.arg("serve").current_dir(folder).env("NORA_HOST", "127.0.0.1").env("NORA_PORT", port.to_string());
    command.env("NORA_STORAGE_PATH", folder.join("storage")).env("NORA_REGISTRIES_ENABLE", "maven");
    command.env("NORA_MAVEN_PROXIES", upstream).env("NORA_RATE_LIMIT_ENABLED", "false");
    Server::peer(command, "NORA", port, folder)
}
