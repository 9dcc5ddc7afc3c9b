//! Maven's central repository as a Daylight in the user's cache folder. The first run fills it, and later runs add what
//! they need. All Maven tests use it through loopback.

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
/// The release of JRuby in the tests: it runs on every Java since 8, and has RubyGems and Bundler 3.6.3 and 2.6.3.
const JRUBY: &str = "9.4.15.0";
/// The TTL of cached files of the central repository, in seconds: a year, the maximum.
const LASTING_S: u64 = 366 * 86_400;

/// One at a time, because a folder has one server.
static TURN: Mutex<()> = Mutex::new(());

/// The central repository. Dropping it stops the server.
pub(crate) struct Central {
    server: Server,
    folder: PathBuf,
    /// A lock against other runs of the tests. Closing the file releases it.
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

    /// Its URL, as the upstream of a Daylight in a test.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/repository/{REPOSITORY}/", self.server.address())
    }

    /// A machine with this release of Maven and an empty local repository.
    pub(crate) fn machine(&self, release: Release) -> Machine {
        let home = release.install(&self.folder.join("clients"), |path| self.get(path));
        Machine::new(&home.unwrap())
    }

    /// The folder of clients that later test runs use again.
    pub(crate) fn clients(&self) -> PathBuf {
        let clients = self.folder.join("clients");
        fs::create_dir_all(&clients).unwrap();
        clients
    }

    /// Downloads a jar once, and returns its path.
    pub(crate) fn jar(&self, path: &str) -> PathBuf {
        let clients = self.clients();
        let jar = clients.join(path.rsplit('/').next().unwrap());
        if !jar.exists() {
            fs::create_dir_all(&clients).unwrap();
            let part = clients.join("arriving.jar");
            fs::write(&part, self.get(path).unwrap()).unwrap();
            fs::rename(part, &jar).unwrap();
        }
        jar
    }

    /// Reads a file.
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

/// The folder with files that test runs of this user keep for later ones.
pub(super) fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given("XDG_CACHE_HOME").unwrap_or_else(|| given("HOME").unwrap().join(".cache")).join("daylight")
}
