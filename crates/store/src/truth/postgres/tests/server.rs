//! A PostgreSQL server for a test, reached through a unix socket; it can be killed, paused and started again, and its answers be lost.

use super::super::options::{DatabaseDialling, DatabaseDoor, DatabaseOptions, DatabaseStream};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::fs::{Permissions, set_permissions};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use telemetry::lock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;

/// Where Debian has the programs.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// A server with a folder of its own.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    process: Option<Child>,
    databases: AtomicUsize,
    nodes: AtomicUsize,
}

/// PostgreSQL does not run as root.
fn program(name: &str) -> Command {
    let path = Path::new(PROGRAMS).join(name);
    if !geteuid().is_root() {
        return Command::new(path);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(path);
    command
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let made = program("initdb")
            .args(["--no-sync", "--auth=trust", "--username=daylight", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(folder.path().join("data"))
            .current_dir("/")
            .output()
            .expect("Debian's package postgresql-15 is missing: scripts/setup test");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut server = Self { folder, process: None, databases: AtomicUsize::new(0), nodes: AtomicUsize::new(0) };
        server.restart();
        server
    }

    /// Starts it, killed or not.
    pub(crate) fn restart(&mut self) {
        self.kill();
        while !self.try_start() {}
    }

    /// `false`: memory of a killed one is still in use.
    fn try_start(&mut self) -> bool {
        let sockets = format!("unix_socket_directories={}", self.folder.path().display());
        let mut process = program("postgres")
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", &sockets, "-D"])
            .arg(self.folder.path().join("data"))
            .current_dir("/")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let started = lines.by_ref().any(|line| line.contains("ready to accept connections"));
        if !started {
            process.wait().unwrap();
            return false;
        }
        // It must not wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        self.process = Some(process);
        true
    }

    /// As by `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            self.resume_all(&process);
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// The processes stop and are not ended.
    pub(crate) fn pause(&self) {
        self.signal(self.process.as_ref().unwrap(), Signal::STOP);
    }

    pub(crate) fn resume(&self) {
        self.resume_all(self.process.as_ref().unwrap());
    }

    fn resume_all(&self, process: &Child) {
        self.signal(process, Signal::CONT);
    }

    fn signal(&self, process: &Child, signal: Signal) {
        let main = process.id();
        let _ = kill_process(Pid::from_raw(main.cast_signed()).unwrap(), signal);
        let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children")).unwrap_or_default();
        for child in children.split_whitespace() {
            let _ = kill_process(Pid::from_raw(child.parse().unwrap()).unwrap(), signal);
        }
    }

    /// A standby was promoted that lacks the changes after `last`.
    pub(crate) fn promote(&self, database: &str, last: u64) {
        let lacks =
            format!("DELETE FROM daylight.journal WHERE seq > {last}; UPDATE daylight.counter SET seq = {last}");
        self.sql(database, &lacks);
        let others = format!("pid <> pg_backend_pid() AND datname = '{database}'");
        self.sql(database, &format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"));
    }

    /// The same, as the nodes see it: nothing is known of them.
    pub(crate) fn fail_over(&self, database: &str, last: u64) {
        self.sql(database, "TRUNCATE daylight.node, daylight.lease, daylight.nodes_since");
        self.promote(database, last);
    }

    /// Somebody else writes a row behind the last one, `last`.
    pub(crate) fn add_foreign(&self, database: &str, last: u64) {
        let next = last + 1;
        let body = format!("(SELECT body FROM daylight.journal WHERE seq = {last})");
        let body = format!("replace({body}, '\"seq\":{last}', '\"seq\":{next}')");
        let added = self.sql(
            database,
            &format!("SELECT answer FROM daylight.append({last}, 'x', 'b', 'b', NULL, true, 0, ARRAY[{body}])"),
        );
        assert_eq!(added, "made");
    }

    /// Runs statements in a database, and returns what they print.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let run = Command::new(Path::new(PROGRAMS).join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "daylight", "-d", database, "-c", sql, "-h"])
            .arg(self.folder.path())
            .output()
            .unwrap();
        assert!(run.status.success(), "{sql}: {}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap().trim().to_owned()
    }

    /// A new database.
    pub(crate) fn database(&self) -> String {
        let name = format!("of_test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    pub(crate) fn door(&self) -> Arc<Door> {
        let path = self.folder.path().join(".s.PGSQL.5432");
        Arc::new(Door { path, faults: Arc::default() })
    }

    pub(crate) fn options(&self, database: &str) -> DatabaseOptions {
        self.options_by(database, self.door())
    }

    pub(crate) fn options_by(&self, database: &str, door: Arc<Door>) -> DatabaseOptions {
        DatabaseOptions {
            url: format!("postgres://daylight@socket/{database}"),
            name: database.to_owned(),
            user: "daylight".to_owned(),
            door,
            adopt: false,
            node: format!("node-{}", self.nodes.fetch_add(1, Ordering::Relaxed)),
            node_url: String::new(),
            stale_private: Duration::from_secs(60),
            version: "1".to_owned(),
            everywhere: true,
            patience: Duration::from_secs(20),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What happens on the way to a server.
#[derive(Default)]
pub(crate) struct Faults {
    /// The connection breaks before the next answer to an append arrives.
    pub(crate) loses_answer: AtomicBool,
    /// The connection breaks before the next append is sent.
    pub(crate) loses_append: AtomicBool,
    /// Nothing arrives, in either direction: each connection breaks, and none is made.
    pub(crate) is_deaf: AtomicBool,
    /// A connection breaks after this many bytes of answers; 0: never.
    pub(crate) most_bytes: AtomicUsize,
    /// Runs before the next append is sent.
    pub(crate) before_append: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// The way to a server.
pub(crate) struct Door {
    path: PathBuf,
    pub(crate) faults: Arc<Faults>,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())
    }
}

impl DatabaseDoor for Door {
    fn dial(&self) -> DatabaseDialling<'_> {
        Box::pin(async {
            if self.faults.is_deaf.load(Ordering::Acquire) {
                return Err(broken());
            }
            let stream = UnixStream::connect(&self.path).await?;
            Ok(Box::new(Lossy { stream, faults: self.faults.clone(), read_bytes: 0 }) as Box<dyn DatabaseStream>)
        })
    }

    fn password(&self) -> io::Result<Option<String>> {
        Ok(None)
    }
}

struct Lossy {
    stream: UnixStream,
    faults: Arc<Faults>,
    read_bytes: usize,
}

fn has(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|found| found == word)
}

fn broken() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

impl AsyncRead for Lossy {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if self.faults.is_deaf.load(Ordering::Acquire) {
            return Poll::Ready(Err(broken()));
        }
        self.read_bytes += buf.filled().len() - before;
        let most = self.faults.most_bytes.load(Ordering::Acquire);
        if most > 0 && self.read_bytes > most {
            return Poll::Ready(Err(broken()));
        }
        if has(&buf.filled()[before..], b"made") && self.faults.loses_answer.swap(false, Ordering::AcqRel) {
            return Poll::Ready(Err(broken()));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Lossy {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.faults.is_deaf.load(Ordering::Acquire) {
            return Poll::Ready(Err(broken()));
        }
        if has(bytes, b"\"change\":") {
            if let Some(first) = lock(&self.faults.before_append).take() {
                first();
            }
            if self.faults.loses_append.swap(false, Ordering::AcqRel) {
                return Poll::Ready(Err(broken()));
            }
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
