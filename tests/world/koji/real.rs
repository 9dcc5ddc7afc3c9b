//! The real hub of Koji, which `scripts/koji-hub` starts from its source, and its real client, which carries out what a
//! test wants done.

use crate::world::{Connection, cache};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

/// A hub with a database and files of its own.
pub(super) struct Real {
    folder: TempDir,
    port: u16,
    client: Mutex<(Child, BufReader<ChildStdout>)>,
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/koji-hub");
const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/world/koji/real.py");

impl Real {
    /// Starts an empty one from this source.
    pub(super) fn start(source: &OsStr) -> Self {
        let folder = TempDir::new().unwrap();
        // Its database and its hub outlive the script, and would hold its output open.
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let mut script = Command::new(SCRIPT);
        script.arg("start").arg(folder.path()).env("KOJI_HUB_SOURCE", source).stdin(Stdio::null());
        let started = script.stdout(log.try_clone().unwrap()).stderr(log).status().unwrap();
        let said = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(started.success(), "scripts/koji-hub: {said}");
        let ports = std::fs::read_to_string(folder.path().join("ports")).unwrap();
        let port = ports.lines().find_map(|line| line.strip_prefix("hub ")).unwrap().parse().unwrap();
        let mut client = Command::new("python3");
        client.arg(CLIENT).arg(folder.path()).env("PYTHONPATH", cache().join("tools/koji"));
        let mut client = client.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = BufReader::new(client.stdout.take().unwrap());
        Self { folder, port, client: Mutex::new((client, answers)) }
    }

    /// Carries out an operation of the client's script.
    pub(super) fn act(&self, operation: &Value) -> Value {
        let mut client = self.client.lock().unwrap();
        writeln!(client.0.stdin.as_ref().unwrap(), "{operation}").unwrap();
        let mut line = String::new();
        client.1.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no answer to {operation}"));
        assert_eq!(answer.get("failed"), None, "{operation}");
        answer["answer"].take()
    }

    /// Passes on a request.
    pub(super) fn reply(&self, method: &str, body: &[u8]) -> (u16, &'static str, Vec<u8>) {
        let mut connection = Connection::open(([127, 0, 0, 1], self.port).into()).unwrap();
        let headers = [("Content-Type", "text/xml"), ("Connection", "close")];
        let answer = connection.call(method, "/kojihub", &headers, body).unwrap();
        let is_xml = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/xml"));
        (answer.status, if is_xml { "text/xml" } else { "text/plain" }, answer.body)
    }

    /// A file by its path below TOP.
    pub(super) fn file(&self, path: &str) -> Option<Vec<u8>> {
        let is_plain = Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_plain.then(|| std::fs::read(self.folder.path().join("top").join(path)).ok()).flatten()
    }

    /// Ends it: its client, the hub and the database.
    pub(super) fn stop(&self) {
        let client = &mut self.client.lock().unwrap().0;
        let _ = client.kill();
        let _ = client.wait();
        let _ = Command::new(SCRIPT).arg("stop").arg(self.folder.path()).status();
        let _ = std::fs::remove_dir_all(self.folder.path());
    }
}
