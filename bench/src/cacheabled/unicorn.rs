//! The application of the row: Rails on Debian's unicorn.

use super::PAGE;
use crate::process::{Server, free_port};
use crate::written_pages::Memcached;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes the pages.
const WRITER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/app_pages/writer.rb");
/// As the README says.
pub(super) const WORKERS: usize = 7;

/// The running application.
pub(super) struct Unicorn {
    pub(super) server: Server,
    folder: PathBuf,
}

impl Unicorn {
    /// Starts it. Its pages go to this memcached.
    pub(super) fn start(folder: &Path, memcached: &Memcached, page: &[u8]) -> Result<Self> {
        let (own, port) = (folder.join("application"), free_port()?);
        fs::create_dir_all(&own)?;
        let configuration =
            format!("worker_processes {WORKERS}\npreload_app true\nlisten \"127.0.0.1:{port}\", backlog: 4096\n");
        let files = [
            ("application.ru", include_bytes!("application.ru").as_slice()),
            ("page.html", page),
            ("unicorn.conf.rb", configuration.as_bytes()),
        ];
        for (name, bytes) in files {
            fs::write(own.join(name), bytes)?;
        }
        println!("unicorn.conf.rb:\n{configuration}");
        let mut command = Command::new("unicorn");
        command.args(["-E", "production", "-c", "unicorn.conf.rb", "application.ru"]).current_dir(&own);
        command
            .env("PAGE", "page.html")
            .env("WRITER", WRITER)
            .env("MEMCACHED", &memcached.server.address)
            .env("RAILS_ENV", "production");
        let server = Server::peer(command, "unicorn", port, folder)?;
        Ok(Self { server, folder: own })
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// How long its workers have been busy, together, in seconds.
    pub(super) fn busy_seconds(&self) -> Result<f64> {
        let mut nanos = 0;
        for file in fs::read_dir(&self.folder)? {
            let file = file?;
            if file.file_name().to_string_lossy().starts_with("busy-") {
                let bytes = fs::read(file.path())?;
                nanos += bytes.first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
            }
        }
        Ok(nanos as f64 / 1e9)
    }
}

/// A request for a page, which has the bytes of the page.
pub(super) fn read(server: &Server, path: &str, codings: Option<&str>) -> Result<Vec<u8>> {
    let headers: Vec<_> = codings.map(|codings| ("Accept-Encoding", codings)).into_iter().collect();
    let reply = crate::http::Connection::open(server.address.parse()?)?.call("GET", path, &headers, b"")?;
    anyhow::ensure!(reply.status == 200, "{path} of {}: {}", server.name, reply.status);
    if reply.header("content-encoding").is_none() {
        anyhow::ensure!(reply.body.len() == PAGE, "{path} of {} has {} bytes", server.name, reply.body.len());
    }
    let said =
        reply.header("cache-status").or_else(|| reply.header("x-cache")).context("a header").unwrap_or("no cache");
    println!("{} {path}: {} bytes, {said}", server.name, reply.body.len());
    Ok(reply.body)
}
