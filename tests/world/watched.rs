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

/// Threads that work in the background for a while after a change.
const ASIDE: [&str; 2] = ["segments", "cached-sweep"];

impl Watched {
    /// Starts to record.
    pub(crate) fn attach(id: Pid) -> Self {
        let calls = NamedTempFile::new().unwrap();
        let mut strace = Command::new("strace")
            .args(["-f", "-yy", "-s", "16", "-e", "trace=%file,%desc,%network", "-o"])
            .arg(calls.path())
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
