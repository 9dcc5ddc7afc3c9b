//! The floors of a build: the least that a server and a download can cost. Both are processes of their own, so that their processor time
//! can be told from that of the generator.

mod fetcher;
mod server;

pub(crate) use fetcher::run as run_fetcher;
pub(crate) use server::run as run_server;

use crate::process::{Server, free_port};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Starts a server with the files of a folder in memory.
pub(crate) fn server(files: &Path, log: &Path) -> Result<Server> {
    let port = free_port()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bare-server").arg(files).arg(port.to_string());
    Server::peer(command, "bare server", port, log)
}

/// Downloads these paths from a server into a folder. Returns the processor seconds.
pub(crate) fn fetch(address: &str, paths: &[String], folder: &Path) -> Result<f64> {
    let list = folder.join("list");
    fs::write(&list, paths.join("\n"))?;
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["bare-fetcher", address]).arg(&list).arg(folder).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().with_context(|| format!("the bare fetcher said {said:?}"))
}
