//! The program as a process: started, awaited, stopped or killed by its own id.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Longer than any start or stop takes on a busy machine; only a hang is longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program. Killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// Its standard output, line by line. Ends with the process.
    lines: Receiver<String>,
    log: PathBuf,
    address: Option<SocketAddr>,
    said: Vec<String>,
}

impl Server {
    /// Starts it on any free port of loopback. Its log goes to the file `log`.
    pub(crate) fn spawn(data: &Path, admin: &str, settings: &[(&str, &str)], log: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        command.env_clear().env("DAYLIGHT_ADMIN_TOKEN", admin).env("RUST_BACKTRACE", "1");
        for (name, value) in settings {
            // An empty value takes the variable away.
            if value.is_empty() {
                command.env_remove(name)
            } else {
                command.env(name, value)
            };
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(log).unwrap())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        // Bounded: who does not read on lets the pipe fill, as a stalled collector of logs does.
        let (sender, lines) = mpsc::sync_channel(16);
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, log: log.to_owned(), address: None, said: Vec::new() }
    }

    /// Waits until it listens.
    pub(crate) fn ready(mut self) -> Self {
        while self.address.is_none() {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("the server did not start; its log:\n{}", self.log())
            };
            self.address = line.strip_prefix("listening on http://").map(|address| address.parse().unwrap());
            self.said.push(line);
        }
        self
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address.unwrap()
    }

    /// What it printed, the address last.
    pub(crate) fn said(&self) -> &[String] {
        &self.said
    }

    /// Its resident set, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// Asks it to stop (SIGTERM), and waits until it has.
    pub(crate) fn stop(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        // Its standard output closes when it ends.
        let closed = loop {
            if let Err(why) = self.lines.recv_timeout(PATIENCE) {
                break why == RecvTimeoutError::Disconnected;
            }
        };
        assert!(closed, "it does not stop; its log:\n{}", self.log());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "it stopped with {status}; its log:\n{}", self.log());
    }

    /// Ends it in the middle of whatever it does (SIGKILL).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the server's log:\n{}", self.log());
        }
        // Fails when it has ended already, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
