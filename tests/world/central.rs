//! Maven's central repository as a Daylight in the user's cache folder. The first run fills it, and later runs add what
//! they need. All Maven tests use it through loopback.

use super::door::Door;
use super::maven::Machine;
use super::release::{Release, unpacked};
use super::server::Server;
use super::super_pom::public_url;
use super::{ADMIN, Connection, Person};
use serde_json::json;
use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

const REPOSITORY: &str = "central";
/// The release of JRuby in the tests: it runs on every Java since 8, and has RubyGems and Bundler 3.6.3 and 2.6.3.
const JRUBY: &str = "9.4.15.0";
/// The TTL of cached files of the central repository, in seconds: a year, the maximum.
const LASTING_S: u64 = 366 * 86_400;

/// The server of the folder, which the tests of a run share: all of them come from one address and ask for much.
static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
const SETTINGS: &[(&str, &str)] = &[("DAYLIGHT_SERVER_CLIENT_SHARE_PERCENT", "100")];

/// Clients are installed one at a time.
static INSTALLING: Mutex<()> = Mutex::new(());

/// The server, until the last test that uses it has ended.
struct Shared {
    address: SocketAddr,
    _server: Mutex<Server>,
    folder: PathBuf,
    /// A lock against other runs of the tests. Closing the file releases it.
    _lock: File,
}

impl Shared {
    /// Waits for the lock, and starts the server.
    fn start() -> Self {
        let folder = cache();
        fs::create_dir_all(&folder).unwrap();
        let lock = File::create(folder.join("upstream.lock")).unwrap();
        lock.lock().unwrap();
        let log = folder.join("upstream.log");
        File::create(&log).unwrap();
        let server = Server::spawn((&folder.join("upstream"), &[]), ADMIN, SETTINGS, &log).ready();
        let admin = Person::new(server.address(), Some(ADMIN.to_owned()));
        if admin.get(&format!("/api/v1/repositories/{REPOSITORY}")).status == 404 {
            let remote = json!({ "urls": [public_url()], "fresh_s": LASTING_S, "missing_s": LASTING_S });
            let wanted = json!({ "name": REPOSITORY, "format": "maven", "kind": "remote", "remote": remote });
            admin.post_json("/api/v1/repositories", &wanted).expect(201);
        }
        Self { address: server.address(), _server: Mutex::new(server), folder, _lock: lock }
    }
}

/// The central repository, at an address of its own. Dropping it closes that address.
pub(crate) struct Central {
    shared: Arc<Shared>,
    door: Door,
}

impl Central {
    /// Opens an address, and starts the server unless another test uses it.
    pub(crate) fn open() -> Self {
        let mut known = held(&SHARED);
        let shared = known.upgrade().unwrap_or_else(|| Arc::new(Shared::start()));
        *known = Arc::downgrade(&shared);
        Self { door: Door::to(shared.address), shared }
    }

    /// Its URL, as the upstream of a Daylight in a test.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/repository/{REPOSITORY}/", self.door.address())
    }

    /// A machine with this release of Maven and an empty local repository.
    pub(crate) fn machine(&self, release: Release) -> Machine {
        let _installing = held(&INSTALLING);
        Machine::new(&release.install(&self.clients(), |path| self.get(path)).unwrap())
    }

    /// The folder of clients that later test runs use again.
    pub(crate) fn clients(&self) -> PathBuf {
        let clients = self.shared.folder.join("clients");
        fs::create_dir_all(&clients).unwrap();
        clients
    }

    /// Downloads a jar once, and returns its path.
    pub(crate) fn jar(&self, path: &str) -> PathBuf {
        let (_installing, clients) = (held(&INSTALLING), self.clients());
        let jar = clients.join(path.rsplit('/').next().unwrap());
        if !jar.exists() {
            let part = clients.join("arriving.jar");
            fs::write(&part, self.get(path).unwrap()).unwrap();
            fs::rename(part, &jar).unwrap();
        }
        jar
    }

    /// Reads a file.
    fn get(&self, path: &str) -> io::Result<Vec<u8>> {
        let path = format!("/repository/{REPOSITORY}/{path}");
        Ok(Connection::open(self.shared.address)?.call("GET", &path, &[], b"")?.expect(200).body)
    }
}

/// The lock, also after a test that had it failed.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder of JRuby's programs, which are fetched from there once.
pub(super) fn jruby() -> PathBuf {
    let path = format!("org/jruby/jruby-dist/{JRUBY}/jruby-dist-{JRUBY}-bin.tar.gz");
    let get = || Central::open().get(&path);
    let _installing = held(&INSTALLING);
    unpacked(&cache().join("clients"), &format!("jruby-{JRUBY}"), get).unwrap().join("bin")
}

/// The folder with files that test runs of this user keep for later ones.
pub(crate) fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    given("XDG_CACHE_HOME").unwrap_or_else(|| given("HOME").unwrap().join(".cache")).join("daylight")
}
