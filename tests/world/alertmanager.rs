//! Debian's Alertmanager on a port of loopback, which `scripts/setup test` fetches. It is never started as a service.

use super::central::cache;
use super::{Connection, eventually, free_port};
use serde_json::Value;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// An Alertmanager. Dropping it kills it.
pub(crate) struct Alertmanager {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Alertmanager {
    /// Starts one that tells of alerts with the same name together, after a second, by a webhook to this URL.
    pub(crate) fn start(webhook: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let settings = format!(
            "route:\n  receiver: us\n  group_by: [alertname]\n  group_wait: 1s\n  group_interval: 1s\n  repeat_interval: 1h\n\
             receivers:\n  - name: us\n    webhook_configs:\n      - url: {webhook}\n        send_resolved: true\n"
        );
        let file = folder.path().join("alertmanager.yml");
        std::fs::write(&file, settings).unwrap();
        let (port, fetched) = (free_port(), cache().join("tools/alertmanager"));
        // Debian's program reads its templates from a fixed place, which is there for this process alone.
        let script = "mount -t tmpfs none /usr/share; mkdir -p /usr/share/prometheus/alertmanager; \
                      cp \"$1\"/*.tmpl /usr/share/prometheus/alertmanager; shift; exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "bash", "-euc", script, "bash"]);
        command.arg(&fetched).arg(fetched.join("prometheus-alertmanager"));
        command.arg(format!("--config.file={}", file.display()));
        command.arg(format!("--storage.path={}", folder.path().display()));
        command.args([&format!("--web.listen-address=127.0.0.1:{port}"), "--cluster.listen-address="]);
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let spawned = command.spawn();
        let process = spawned.unwrap_or_else(|error| panic!("the Alertmanager of `scripts/setup test`: {error}"));
        let mut manager = Self { process, port, _folder: folder };
        eventually(|| {
            if let Some(ended) = manager.process.try_wait().unwrap() {
                panic!("Alertmanager ended with {ended}");
            }
            manager.get("/-/ready").map(drop)
        });
        manager
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The alerts that it has and that go on.
    pub(crate) fn alerts(&self) -> Vec<Value> {
        let text = self.get("/api/v2/alerts").unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn get(&self, path: &str) -> Result<String, String> {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let mut connection = Connection::open(address).map_err(|error| error.to_string())?;
        let answer = connection.call("GET", path, &[], b"").map_err(|error| error.to_string())?;
        if answer.status == 200 { Ok(answer.text().to_owned()) } else { Err(format!("it answers {}", answer.status)) }
    }
}

impl Drop for Alertmanager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
