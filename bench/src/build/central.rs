//! Maven's central repository, as a Daylight in the user's cache folder has it: the one that the tests use too. What it does not
//! have yet it fetches, once.

use super::make;
use crate::process::Server;
use crate::super_pom::public_url;
use anyhow::{Context, Result};
use serde_json::json;
use std::fs::{self, File};
use std::path::PathBuf;
use tempfile::TempDir;

const REPOSITORY: &str = "central";
/// What is kept of it is good for a year, in seconds, as the tests have it.
const LASTING_S: u64 = 366 * 86_400;

/// The central repository, until it is dropped.
pub(crate) struct Central {
    server: Server,
    folder: PathBuf,
    _log: TempDir,
    /// Against tests that run meanwhile.
    _lock: File,
}

impl Central {
    /// Waits for its turn, and starts the server.
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
            make(&central.server, REPOSITORY, &upstream)?;
        }
        Ok(central)
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/repository/{REPOSITORY}/", self.server.address)
    }

    /// Debian's Maven, and those that the tests have fetched: names and folders.
    pub(crate) fn clients(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut clients = vec![("Debian's 3.8".to_owned(), PathBuf::from(super::maven::DEBIAN))];
        let folder = self.folder.join("clients");
        if folder.exists() {
            for client in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
                let path = client?.path();
                let name =
                    path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("apache-maven-"));
                clients.extend(name.map(|name| (name.to_owned(), path.clone())));
            }
        }
        clients.sort();
        Ok(clients)
    }

    fn is_there(&self) -> Result<bool> {
        let path = format!("/repository/{REPOSITORY}/");
        let mut connection = crate::http::Connection::open(self.server.address.parse()?)?;
        Ok(connection.call("HEAD", &path, &[], b"")?.status == 200)
    }
}
