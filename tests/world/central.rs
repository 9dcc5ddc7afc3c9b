//! Maven's central repository, as a Daylight in the user's cache folder has it: filled by the first run, and by later
//! ones when they want something new. Everything else that the tests of Maven need comes from there, through loopback.

use super::maven::Machine;
use super::release::{Release, unpacked};
use super::server::Server;
use super::super_pom::public_url;
use super::{ADMIN, Connection, Person};
use serde_json::json;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

const REPOSITORY: &str = "central";
/// The release of JRuby that is tried: it runs on every Java since 8, and has RubyGems and Bundler 3.6.3 and 2.6.3.
const JRUBY: &str = "9.4.15.0";
/// What is kept of the central repository is good for a year, in seconds: the longest that can be set.
const LASTING_S: u64 = 366 * 86_400;

/// One at a time: a folder has one server.
static TURN: Mutex<()> = Mutex::new(());

/// The central repository, until it is dropped.
pub(crate) struct Central {
    server: Server,
    folder: PathBuf,
    /// Against other runs of the tests. Let go when it is closed.
    _lock: File,
    _turn: MutexGuard<'static, ()>,
}

impl Central {
    /// Waits for its turn, and starts the server.
    pub(crate) fn open() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = cache();
        fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("upstream.lock")).unwrap();
        lock.lock().unwrap();
        let log = folder.join("upstream.log");
        File::create(&log).unwrap();
        let server = Server::spawn((&folder.join("upstream"), &[]), ADMIN, &[], &log).ready();
        let admin = Person::new(server.address(), Some(ADMIN.to_owned()));
        if admin.get(&format!("/api/v1/repositories/{REPOSITORY}")).status == 404 {
            let remote = json!({ "urls": [public_url()], "fresh_s": LASTING_S, "missing_s": LASTING_S });
            let wanted = json!({ "name": REPOSITORY, "format": "maven", "kind": "remote", "remote": remote });
            admin.post_json("/api/v1/repositories", &wanted).expect(201);
        }
        Self { server, folder, _lock: lock, _turn: turn }
    }

    /// Where it is, for a Daylight that is to stand for it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/repository/{REPOSITORY}/", self.server.address())
    }

    /// A machine with this release of Maven on it, and nothing in its local repository.
    pub(crate) fn machine(&self, release: Release) -> Machine {
        let home = release.install(&self.folder.join("clients"), |path| self.get(path));
        Machine::new(&home.unwrap())
    }

    /// A file of it.
    fn get(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = format!("/repository/{REPOSITORY}/{path}");
        Ok(Connection::open(self.server.address())?.call("GET", &path, &[], b"")?.expect(200).body)
    }
}

/// The folder of JRuby's programs, which are fetched from there once.
pub(super) fn jruby() -> PathBuf {
    let path = format!("org/jruby/jruby-dist/{JRUBY}/jruby-dist-{JRUBY}-bin.tar.gz");
    let get = || Central::open().get(&path);
    unpacked(&cache().join("clients"), &format!("jruby-{JRUBY}"), get).unwrap().join("bin")
}

/// What this user's runs of the tests keep for later ones.
pub(super) fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given("XDG_CACHE_HOME").unwrap_or_else(|| given("HOME").unwrap().join(".cache")).join("daylight")
}
