//! Records the system calls of a running program with strace.

use rustix::process::{Pid, Signal};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use tempfile::NamedTempFile;

/// A traced process. Calls about files, descriptors and sockets are recorded.
pub(crate) struct Watched {
    strace: Child,
    /// strace reports new threads here. It would end if the pipe were closed.
    _said: BufReader<ChildStderr>,
    calls: NamedTempFile,
    /// The ids of threads that no request waits for.
    aside: Vec<String>,
}

/// Threads that work in the background: for a while after a change, or regularly.
const ASIDE: [&str; 7] = ["segments", "cached-sweep", "machine", "disk-probe", "watch", "watch-probe", "last-words"];

impl Watched {
    /// Starts to record.
    pub(crate) fn attach(id: Pid) -> Self {
        Self::with(id, &["trace=%file,%desc,%network"])
    }

    /// Makes each run of a system call begin so much later, as on slow storage.
    pub(crate) fn delay(id: Pid, call: &str, micros: u64) -> Self {
        Self::with(id, &[&format!("trace={call}"), &format!("inject={call}:delay_enter={micros}")])
    }

    /// Makes each run of a system call by the only thread of this name begin so much later. Dropping this ends the fault.
    pub(crate) fn delay_thread(id: i32, name: &str, call: &str, micros: u64) -> Self {
        let is_it = |thread: &std::path::Path| {
            std::fs::read_to_string(thread.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
        };
        // The cores start after the address was printed.
        let thread = super::eventually(|| {
            let threads = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
            let found = threads.map(|thread| thread.unwrap().path()).find(|thread| is_it(thread));
            found.ok_or_else(|| format!("no thread `{name}`"))
        });
        let thread = thread.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let expressions = [format!("trace={call}"), format!("inject={call}:delay_enter={micros}")];
        Self::of(&["-yy"], Pid::from_raw(thread).unwrap(), &[&expressions[0], &expressions[1]])
    }

    fn with(id: Pid, expressions: &[&str]) -> Self {
        Self::of(&["-f", "-yy"], id, expressions)
    }

    fn of(flags: &[&str], id: Pid, expressions: &[&str]) -> Self {
        let calls = NamedTempFile::new().unwrap();
        let mut strace = Command::new("strace")
            .args(flags)
            .args(["-s", "16", "-o"])
            .arg(calls.path())
            .args(expressions.iter().flat_map(|expression| ["-e", expression]))
            .args(["-p", &id.as_raw_nonzero().to_string()])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("strace, which `scripts/setup test` installs: {error}"));
        let (mut said, mut line) = (BufReader::new(strace.stderr.take().unwrap()), String::new());
        // Once for all existing threads.
        said.read_line(&mut line).unwrap();
        assert!(line.contains("attached"), "{line}");
        let threads = std::fs::read_dir(format!("/proc/{}/task", id.as_raw_nonzero())).unwrap().map(Result::unwrap);
        let aside = threads.filter(|thread| {
            let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            ASIDE.contains(&name.trim_end())
        });
        let aside = aside.map(|thread| thread.file_name().into_string().unwrap()).collect();
        Self { strace, _said: said, calls, aside }
    }

    /// Stops to record. Returns the calls of threads that requests may wait for, with the names of the files.
    pub(crate) fn calls(mut self) -> Vec<String> {
        rustix::process::kill_process(Pid::from_child(&self.strace), Signal::INT).unwrap();
        self.strace.wait().unwrap();
        let calls = std::fs::read_to_string(self.calls.path()).unwrap();
        let is_aside = |call: &&str| self.aside.iter().any(|thread| call.split(' ').next() == Some(thread));
        calls.lines().filter(|call| !is_aside(call)).map(str::to_owned).collect()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // This fails if the process has ended already, which is fine.
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}
