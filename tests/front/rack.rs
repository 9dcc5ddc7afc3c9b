//! Real application servers of Debian with the application `app.ru`: unicorn, one request at a time in each worker, and Puma.

use crate::world::{eventually, write};
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// Where Debian has its programs.
const PATH: &str = "/usr/bin:/bin";

/// The folder of the application: its source, its log and its gates.
pub(super) struct Folder(TempDir);

impl Folder {
    /// A new one.
    pub(super) fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        write(&folder.path().join("app.ru"), include_str!("app.ru"));
        write(&folder.path().join("log"), "");
        folder
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Opens a gate.
    pub(super) fn open(&self, gate: &str) {
        write(&self.path().join(gate), "");
    }

    /// What the application noted: a line when a request began, and another one with `closed` when its body was taken.
    pub(super) fn noted(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.path().join("log")).unwrap();
        // A line may be half written.
        log.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The number of requests that began and the number that ended, for paths that begin so.
    pub(super) fn counts(&self, path: &str) -> (usize, usize) {
        let noted = self.noted();
        let of = noted.iter().filter(|work| work["path"].as_str().unwrap().starts_with(path));
        let (ended, began): (Vec<&Value>, Vec<&Value>) = of.partition(|work| work["closed"].is_number());
        (began.len(), ended.len())
    }

    /// Waits until so many requests for paths that begin so have begun and ended.
    #[track_caller]
    pub(super) fn await_counts(&self, path: &str, counts: (usize, usize)) {
        eventually(|| match self.counts(path) {
            found if found == counts => Ok(()),
            found => Err(format!("{path}: {found:?} began and ended, not {counts:?}")),
        });
    }

    /// The variables of the application.
    pub(super) fn variables(&self) -> [(&'static str, String); 3] {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        [("PATH", PATH.to_owned()), ("APP_FOLDER", text(self.path())), ("APP_LOG", text(&self.path().join("log")))]
    }
}

/// An application server on a Unix socket. Dropping it ends it.
pub(super) struct Rack {
    server: Child,
    pub(super) folder: Folder,
}

impl Rack {
    /// unicorn with this number of workers.
    pub(super) fn unicorn(workers: usize) -> Self {
        let folder = Folder::new();
        let settings = format!("worker_processes {workers}\nlisten \"{}\", backlog: 1024\n", socket(&folder));
        write(&folder.path().join("unicorn.rb"), &settings);
        Self::start(folder, "unicorn", &["-E", "none", "-c", "unicorn.rb", "app.ru"])
    }

    /// Puma with this number of threads.
    pub(super) fn puma(threads: usize) -> Self {
        let folder = Folder::new();
        let (threads, bind) = (format!("{threads}:{threads}"), format!("unix://{}", socket(&folder)));
        Self::start(folder, "puma", &["-q", "-e", "none", "-t", &threads, "-b", &bind, "app.ru"])
    }

    fn start(folder: Folder, program: &str, arguments: &[&str]) -> Self {
        let errors = File::create(folder.path().join("errors")).unwrap();
        let mut command = Command::new(format!("/usr/bin/{program}"));
        command.args(arguments).current_dir(folder.path()).env_clear().envs(folder.variables());
        let server = command
            .stdin(Stdio::null())
            .stdout(errors.try_clone().unwrap())
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("the {program} that `scripts/setup test` installs: {error}"));
        let rack = Self { server, folder };
        eventually(|| match std::os::unix::net::UnixStream::connect(socket(&rack.folder)) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{program}: {error}\n{}", rack.errors())),
        });
        rack
    }

    /// Its address for the front.
    pub(super) fn url(&self) -> String {
        format!("unix:{}", socket(&self.folder))
    }

    /// The log of the server itself.
    fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("errors")).unwrap_or_default()
    }
}

impl Drop for Rack {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the application server's log:\n{}", self.errors());
        }
        // So it ends its workers. It fails if the process has ended already, which is fine.
        let _ = rustix::process::kill_process(Pid::from_child(&self.server), Signal::TERM);
        let _ = self.server.wait();
    }
}

fn socket(folder: &Folder) -> String {
    folder.path().join("socket").to_str().unwrap().to_owned()
}
