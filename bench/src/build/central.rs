//! Maven's central repository, cached by a Daylight in the user's cache folder, which the tests use too. It downloads
//! missing files once.

use super::make;
use crate::http::Connection;
use crate::process::Server;
use crate::release::Release;
use crate::super_pom::public_url;
use anyhow::{Context, Result};
use serde_json::json;
use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use tempfile::TempDir;

const REPOSITORY: &str = "central";
/// The TTL of cached files: a year, in seconds, as in the tests.
const LASTING_S: u64 = 366 * 86_400;

/// The central repository, until this is dropped.
pub(crate) struct Central {
    server: Server,
    folder: PathBuf,
    _log: TempDir,
    /// Excludes tests that run at the same time.
    _lock: File,
}

impl Central {
    /// Waits for the lock, and starts the server.
    pub(crate) fn open() -> Result<Self> {
        let folder = crate::nexus::cache()?;
        fs::create_dir_all(&folder)?;
        let lock = File::create(folder.join("upstream.lock"))?;
        lock.lock()?;
        let log = tempfile::tempdir()?;
        let server = Server::daylight_on(&folder.join("upstream"), log.path(), &[])?;
        let central = Self { server, folder, _log: log, _lock: lock };
        if !central.is_there()? {
            let upstream = json!({ "urls": [public_url()], "fresh_s": LASTING_S, "missing_s": LASTING_S });
            make(&central.server, REPOSITORY, "maven", &upstream)?;
        }
        Ok(central)
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/repository/{REPOSITORY}/", self.server.address)
    }

    /// The releases of Maven, and their folders: each is downloaded once, as in the tests.
    pub(crate) fn clients(&self) -> Result<Vec<(&'static str, PathBuf)>> {
        let folder = self.folder.join("clients");
        let home = |release: Release| {
            let home =
                release.install(&folder, |path| self.get(path)).with_context(|| format!("installing {release:?}"));
            Ok((release.fetched().unwrap_or("3.8, Debian's"), home?))
        };
        Release::ALL.into_iter().map(home).collect()
    }

    fn get(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = format!("/repository/{REPOSITORY}/{path}");
        let reply = Connection::open(self.address()?)?.call("GET", &path, &[], b"")?;
        match reply.status {
            200 => Ok(reply.body),
            status => Err(io::Error::other(format!("{path}: {status}"))),
        }
    }

    fn address(&self) -> io::Result<SocketAddr> {
        self.server.address.parse().map_err(io::Error::other)
    }

    fn is_there(&self) -> Result<bool> {
        let path = format!("/repository/{REPOSITORY}/");
        let mut connection = Connection::open(self.address()?)?;
        Ok(connection.call("HEAD", &path, &[], b"")?.status == 200)
    }
}
