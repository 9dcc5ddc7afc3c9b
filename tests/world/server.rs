//! The program as a process: started, awaited, stopped or killed by its own id.

use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Longer than any step of a test takes on a busy machine. Only a hang takes longer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// How long [`eventually`] leaves the processor to the server before it looks again.
const PAUSE: Duration = Duration::from_millis(2);

/// What `look` finds at last. It tells why it has found nothing yet.
#[track_caller]
pub(crate) fn eventually<T>(mut look: impl FnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) => assert!(began.elapsed() < TIMEOUT, "{why}"),
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// Waits until this holds.
#[track_caller]
pub(crate) fn await_true(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(|| if holds() { Ok(()) } else { Err(format!("{what}: that did not come true")) });
}

/// The ways to pass a socket to a process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Passed {
    /// As its standard input.
    AsInput,
    /// As descriptor 3, with the two variables of systemd.
    BySystemd,
}

/// A running program. Dropping it kills the program.
pub(crate) struct Server {
    child: Child,
    /// Its standard output, line by line, until the process ends.
    lines: Receiver<String>,
    log: PathBuf,
    address: Option<SocketAddr>,
    said: Vec<String>,
}

impl Server {
    /// Starts it on a free port of loopback. Its log goes to the file `log`.
    pub(crate) fn spawn((data, flags): (&Path, &[&str]), admin: &str, settings: &[(&str, &str)], log: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
        command.args(["serve", "--data"]).arg(data).args(flags).stdin(Stdio::null());
        // A flag takes precedence over the configuration file.
        let says = |path: &str| std::fs::read_to_string(path).is_ok_and(|text| text.contains("\nlisten = "));
        if !settings.iter().any(|(name, value)| *name == "DAYLIGHT_CONFIG" && says(value)) {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        Self::run(command, admin, settings, log)
    }

    /// Starts it with a socket that is already listening, passed in one of these ways.
    pub(crate) fn spawn_with_socket(
        (data, flags): (&Path, &[&str]),
        admin: &str,
        settings: &[(&str, &str)],
        log: &Path,
        (socket, way): (TcpListener, Passed),
    ) -> Self {
        let program = env!("CARGO_BIN_EXE_daylight");
        let mut command = match way {
            Passed::AsInput => Command::new(program),
            Passed::BySystemd => {
                let mut shell = Command::new("sh");
                let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\" 3<&0 </dev/null";
                shell.args(["-c", script, program]);
                shell
            }
        };
        command.args(["serve", "--data"]).arg(data).args(flags).stdin(OwnedFd::from(socket));
        Self::run(command, admin, settings, log)
    }

    /// Starts it with `data` on a file system of its own (tmpfs) of this size, which no other process sees. Its clock
    /// can be set. `before`: commands that run in the folder first.
    pub(crate) fn spawn_on_small_disk(
        data: &Path,
        bytes: u64,
        before: &str,
        admin: &str,
        settings: &[(&str, &str)],
        log: &Path,
    ) -> Self {
        std::fs::create_dir_all(data).unwrap();
        let script = format!(
            "mount -t tmpfs -o size=$0 none \"$1\"; cd \"$1\"; {before}
             exec \"$2\" serve --data \"$1\" --listen 127.0.0.1:0 --conformance"
        );
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "bash", "-euc", &script, &bytes.to_string()]);
        command.arg(data).arg(env!("CARGO_BIN_EXE_daylight")).stdin(Stdio::null());
        // The search path of the programs that create the file system.
        Self::run(command, admin, &[settings, &[("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")]].concat(), log)
    }

    /// Starts the front of applications with these arguments.
    pub(crate) fn spawn_front(arguments: &[&str], settings: &[(&str, &str)], log: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_daylight"));
        command.arg("front").args(arguments).stdin(Stdio::null());
        Self::run(command, super::ADMIN, settings, log)
    }

    fn run(mut command: Command, admin: &str, settings: &[(&str, &str)], log: &Path) -> Self {
        command.env_clear().env("DAYLIGHT_ADMIN_TOKEN", admin).env("RUST_BACKTRACE", "1");
        // No test asks a public server. Many read the events of all requests.
        command.env("DAYLIGHT_UPSTREAM_RUBYGEMS", "none").env("DAYLIGHT_TELEMETRY_JSON_LINES", "on");
        for (name, value) in settings {
            // An empty value removes the variable.
            if value.is_empty() {
                command.env_remove(name)
            } else {
                command.env(name, value)
            };
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(log).unwrap())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        // Bounded: a test that does not read fills the pipe, as a stalled log collector does.
        let (sender, lines) = mpsc::sync_channel(16);
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, log: log.to_owned(), address: None, said: Vec::new() }
    }

    /// Waits until it listens.
    pub(crate) fn ready(mut self) -> Self {
        self.await_address();
        self
    }

    fn await_address(&mut self) {
        while self.address.is_none() {
            let Ok(line) = self.lines.recv_timeout(TIMEOUT) else {
                panic!("the server did not start; its log:\n{}", self.log())
            };
            let url = line.strip_prefix("listening on ").and_then(|url| url.split_once("://"));
            self.address = url.map(|(_, address)| address.parse().unwrap());
            self.said.push(line);
        }
    }

    /// A line with this text, once it was printed.
    pub(crate) fn await_line(&mut self, text: &str) -> String {
        loop {
            if let Some(line) = self.said.iter().rfind(|line| line.contains(text)) {
                return line.clone();
            }
            let Ok(line) = self.lines.recv_timeout(TIMEOUT) else {
                panic!("it never printed {text:?}; its log:\n{}", self.log())
            };
            self.said.push(line);
        }
    }

    /// Waits for its end, and returns its exit code.
    pub(crate) fn exit_code(mut self) -> Option<i32> {
        while self.lines.recv_timeout(TIMEOUT).is_ok() {}
        eventually(|| match self.child.try_wait().unwrap() {
            Some(status) => Ok(status.code()),
            None => Err(format!("it does not end; its log:\n{}", self.log())),
        })
    }

    /// Its process id, which a restart keeps.
    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.id(), signal).unwrap();
    }

    /// Requests a restart (SIGUSR2), and waits until it listens again.
    pub(crate) fn restart(&mut self) {
        self.signal(Signal::USR2);
        self.await_restart();
    }

    /// Waits until it listens again after a restart in place.
    pub(crate) fn await_restart(&mut self) {
        let before = self.address.take();
        self.await_address();
        assert_eq!(self.address, before, "it listens elsewhere");
    }

    /// Waits until its log has this text.
    pub(crate) fn await_log(&self, text: &str) {
        eventually(|| {
            let log = self.log();
            if log.contains(text) { Ok(()) } else { Err(format!("its log never says {text:?}:\n{log}")) }
        });
    }

    /// The address of its socket.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address.unwrap()
    }

    /// The lines that it printed, the address last.
    pub(crate) fn said(&self) -> &[String] {
        &self.said
    }

    /// Its resident memory without that of files, as parts of the program come into memory when they are first run, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.status("RssAnon:")
    }

    /// The maximum of its resident memory so far, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.status("VmHWM:")
    }

    fn status(&self, key: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// CPU time that it has used, in microseconds, in steps of the kernel's clock (10 ms).
    pub(crate) fn cpu_us(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // The name of the program, in parentheses, may contain spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks = |at: usize| fields[at].parse::<u64>().unwrap();
        (ticks(11) + ticks(12)) * 10_000
    }

    /// The number of entries in a folder of the process below `/proc`.
    pub(crate) fn count(&self, folder: &str) -> usize {
        std::fs::read_dir(format!("/proc/{}/{folder}", self.child.id())).unwrap().count()
    }

    /// Stops it (SIGTERM), and waits until it has.
    pub(crate) fn stop(mut self) {
        self.signal(Signal::TERM);
        // Its standard output closes when it ends.
        let closed = loop {
            if let Err(why) = self.lines.recv_timeout(TIMEOUT) {
                break why == RecvTimeoutError::Disconnected;
            }
        };
        assert!(closed, "it does not stop; its log:\n{}", self.log());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "it stopped with {status}; its log:\n{}", self.log());
    }

    /// Kills it (SIGKILL).
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the server's log:\n{}", self.log());
        }
        // This fails if the process has ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
