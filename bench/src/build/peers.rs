//! The servers that a build is measured on, each with nothing cached: the floors, an nginx with the same files, Daylight, NORA and Nexus.

use super::make;
use super::recorded::{Recorded, Upstream};
use crate::nexus::Nexus;
use crate::process::{Server, beside};
use crate::{bare, nora};
use anyhow::Result;
use serde_json::json;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The upstream itself: what a client takes without a server in between.
    Nginx,
    /// The bare server, and for a cold build the bare fetcher as well.
    Bare,
    Daylight,
    Nora,
    Nexus,
}

impl Peer {
    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx, the same files",
            Self::Bare => "the floor",
            Self::Daylight => "Daylight",
            Self::Nora => "NORA",
            Self::Nexus => "Nexus 3.71",
        }
    }
}

/// The rivals that are there.
#[derive(Default)]
pub(crate) struct Peers {
    nora: Option<PathBuf>,
    nexus: Option<Nexus>,
}

/// A server that a build can use.
pub(crate) struct Opened<'a> {
    server: Held<'a>,
    /// The path of the repository.
    pub(crate) base: String,
    _folder: TempDir,
}

enum Held<'a> {
    Own(Server),
    /// Nexus takes a minute to start and some builds until its code is compiled, so there is one, with a new repository for each round.
    Shared(&'a Server),
}

impl Deref for Opened<'_> {
    type Target = Server;

    fn deref(&self) -> &Server {
        match &self.server {
            Held::Own(server) => server,
            Held::Shared(server) => server,
        }
    }
}

impl AsRef<Server> for Opened<'_> {
    fn as_ref(&self) -> &Server {
        self
    }
}

impl Opened<'_> {
    /// The URL of the repository.
    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.base)
    }
}

impl Peers {
    /// Looks for NORA, and starts Nexus if it is wanted.
    pub(crate) fn find(nexus: bool) -> Result<Self> {
        Ok(Self { nora: nora::program()?, nexus: nexus.then(Nexus::start).transpose()? })
    }

    /// The kinds that can be opened.
    pub(crate) fn all(&self) -> Vec<Peer> {
        let mut all = vec![Peer::Nginx, Peer::Bare, Peer::Daylight];
        all.extend(self.nora.as_ref().map(|_| Peer::Nora));
        all.extend(self.nexus.as_ref().map(|_| Peer::Nexus));
        all
    }

    /// Opens a server with nothing cached. `name` is that of its repository, which Nexus must not have yet.
    pub(crate) fn open(&self, peer: Peer, name: &str, recorded: &Recorded, upstream: &str) -> Result<Opened<'_>> {
        if peer == Peer::Nginx {
            let Upstream { server, folder } = recorded.upstream(false)?;
            return Ok(Opened { server: Held::Own(server), base: "/".to_owned(), _folder: folder });
        }
        let folder = tempfile::tempdir()?;
        let (server, base) = match (peer, &self.nora, &self.nexus) {
            (Peer::Bare, ..) => (Held::Own(bare::server(&recorded.files(), folder.path())?), "/".to_owned()),
            (Peer::Nora, Some(nora), _) => {
                (Held::Own(nora::start(nora, upstream, folder.path())?), nora::ROOT.to_owned())
            }
            (Peer::Nexus, _, Some(nexus)) => {
                nexus.stand_for(name, upstream)?;
                (Held::Shared(&nexus.server), format!("/repository/{name}/"))
            }
            _ => return self.open_daylight(&beside("daylight")?, name, recorded, upstream),
        };
        Ok(Opened { server, base, _folder: folder })
    }

    /// Opens a build of Daylight with nothing cached.
    pub(crate) fn open_daylight(
        &self,
        program: &Path,
        name: &str,
        recorded: &Recorded,
        upstream: &str,
    ) -> Result<Opened<'_>> {
        let folder = tempfile::tempdir()?;
        let daylight = Server::daylight_of(program, folder.path())?;
        make(&daylight, name, recorded.format, &json!({ "urls": [upstream] }))?;
        Ok(Opened { server: Held::Own(daylight), base: format!("/repository/{name}/"), _folder: folder })
    }
}
