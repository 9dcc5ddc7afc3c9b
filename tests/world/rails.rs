//! The application of Rails 6.1 in `tests/app_pages`, whose pages are written into memcached or Redis, on Debian's unicorn.

use super::{await_true, write};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// An application with one worker. Dropping it ends it.
pub(crate) struct Rails {
    server: Option<Child>,
    folder: TempDir,
}

impl Rails {
    /// Starts it with these settings (`application.ru`, `writer.rb`).
    pub(crate) fn start(settings: Value) -> Self {
        let folder = TempDir::new().unwrap();
        let file = |name: &str| folder.path().join(name);
        write(&file("application.ru"), include_str!("../app_pages/application.ru"));
        write(&file("writer.rb"), include_str!("../app_pages/writer.rb"));
        write(&file("keys.rb"), include_str!("../app_pages/keys.rb"));
        write(&file("judge.rb"), include_str!("../app_pages/judge.rb"));
        write(&file("settings.json"), "{}");
        write(&file("requests.jsonl"), "");
        let mut rails = Self { server: None, folder };
        rails.set(settings);
        rails.resume();
        rails
    }

    /// Starts it again.
    pub(crate) fn resume(&mut self) {
        let errors = File::options().create(true).append(true).open(self.file("errors")).unwrap();
        let mut command = Command::new("/usr/bin/unicorn");
        command.args(["-E", "none", "-l", self.socket().to_str().unwrap(), "application.ru"]);
        command.current_dir(&self.folder).env_clear().env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
        command.env("APP_FOLDER", self.folder.path()).env("RACK_ENV", "production").env("RAILS_ENV", "production");
        let spawned = command.stdin(Stdio::null()).stdout(errors.try_clone().unwrap()).stderr(errors).spawn();
        self.server = Some(spawned.unwrap_or_else(|error| panic!("the unicorn of `scripts/setup test`: {error}")));
        // The socket is open before the application is loaded, and requests wait there.
        await_true("unicorn listens", || std::os::unix::net::UnixStream::connect(self.socket()).is_ok());
    }

    /// Changes some settings. The next request reads them.
    pub(crate) fn set(&self, settings: Value) {
        let (file, next) = (self.file("settings.json"), self.file("settings.next"));
        let mut all: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for (name, value) in settings.as_object().unwrap() {
            all[name] = value.clone();
        }
        write(&next, &all.to_string());
        std::fs::rename(next, file).unwrap();
    }

    /// Stops it, and waits until it has: its socket refuses connections.
    pub(crate) fn stop(&mut self) {
        let mut server = self.server.take().unwrap();
        rustix::process::kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        server.wait().unwrap();
    }

    /// Its address for the front.
    pub(crate) fn url(&self) -> String {
        format!("unix:{}", self.socket().display())
    }

    /// The requests that reached it, in their order: `method`, `target`, `cookie`, `status` and `cache` (`miss`, `hit, server` ...).
    pub(crate) fn requests(&self) -> Vec<Value> {
        let lines = std::fs::read_to_string(self.file("requests.jsonl")).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What it said of the last request for this target, and how many there were.
    pub(crate) fn last(&self, target: &str) -> (usize, Option<String>) {
        let requests = self.requests();
        let of: Vec<&Value> = requests.iter().filter(|request| request["target"] == target).collect();
        (of.len(), of.last().and_then(|request| request["cache"].as_str()).map(str::to_owned))
    }

    /// Runs `judge.rb` with these words.
    #[track_caller]
    pub(crate) fn judge(&self, words: &Value) -> String {
        let mut ruby = Command::new("/usr/bin/ruby");
        ruby.arg("judge.rb").arg(words.to_string()).current_dir(&self.folder).env_clear();
        let judged = ruby.env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8").output().unwrap();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(judged.status.success(), "{}{}\n{}", said(&judged.stdout), said(&judged.stderr), self.errors());
        said(&judged.stdout)
    }

    /// The key of each page and the tag of its version, as `writer.rb` computes them: in the form of the settings, for this `Accept-Encoding`.
    pub(crate) fn keys(&self, targets: &[&str], accepts: &str) -> Vec<(String, String)> {
        serde_json::from_str(&self.judge(&json!({ "keys": targets, "accepts": accepts }))).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn socket(&self) -> PathBuf {
        self.file("socket")
    }

    fn errors(&self) -> String {
        std::fs::read_to_string(self.file("errors")).unwrap_or_default()
    }
}

impl Drop for Rails {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the application's log:\n{}", self.errors());
        }
        if let Some(mut server) = self.server.take() {
            // So it ends its worker. It fails if the process has ended already, which is fine.
            let _ = rustix::process::kill_process(Pid::from_child(&server), Signal::TERM);
            let _ = server.wait();
        }
    }
}
