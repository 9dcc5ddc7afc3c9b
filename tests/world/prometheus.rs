//! Prometheus on a port of loopback: that of this Debian release, and that of Debian testing, which `scripts/setup test` fetches.

use super::central::cache;
use super::memcached::free_port;
use super::{Person, eventually};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A server. Dropping it kills it.
pub(crate) struct Prometheus {
    process: Child,
    caller: Person,
    folder: TempDir,
}

impl Prometheus {
    /// The folders with the programs of the two releases.
    pub(crate) const RELEASES: [&str; 2] = ["debian", "testing"];

    /// Starts the one of a release with this configuration and files for it, in its folder.
    pub(crate) fn start(release: &str, configuration: &str, files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in [&[("prometheus.yml", configuration)], files].concat() {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let program = cache().join("tools/prometheus").join(release).join("prometheus");
        let mut command = Command::new(&program);
        command.arg(format!("--web.listen-address={address}"));
        // Debian's has other defaults.
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        let log = File::create(folder.path().join("log")).unwrap();
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = command.spawn();
        let process = started
            .unwrap_or_else(|error| panic!("{}, which `scripts/setup test` fetches: {error}", program.display()));
        let mut server = Self { process, caller: Person::new(address, None), folder };
        eventually(|| server.is_up());
        server
    }

    fn is_up(&mut self) -> Result<(), String> {
        let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap();
        if let Some(ended) = self.process.try_wait().unwrap() {
            panic!("Prometheus ended with {ended}:\n{}", log());
        }
        let mut connection = self.caller.connect().map_err(|error| error.to_string())?;
        let ready = self.caller.on(&mut connection, "GET", "/-/ready", &[], b"");
        if ready.is_ok_and(|answer| answer.status == 200) { Ok(()) } else { Err(log()) }
    }

    /// The data of an answer of its API. Fails with what it says.
    pub(crate) fn api(&self, call: &str) -> Result<Value, String> {
        let answer = self.caller.get(&format!("/api/v1/{call}"));
        let said = answer.json();
        if said["status"] == "success" { Ok(said["data"].clone()) } else { Err(said.to_string()) }
    }

    /// The values of a query now, without values that are no number.
    pub(crate) fn query(&self, expr: &str) -> Result<Vec<f64>, String> {
        let mut call = "query?query=".to_owned();
        for byte in expr.bytes() {
            write!(call, "%{byte:02X}").unwrap();
        }
        let result = self.api(&call)?["result"].as_array().cloned().unwrap_or_default();
        let values = result.iter().map(|series| series["value"][1].as_str().unwrap().parse::<f64>().unwrap());
        Ok(values.filter(|value| !value.is_nan()).collect())
    }

    /// Its version, such as `3.5.3+ds1`.
    pub(crate) fn version(&self) -> String {
        self.api("status/buildinfo").unwrap()["version"].as_str().unwrap().to_owned()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
