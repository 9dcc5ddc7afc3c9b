//! SeaweedFS, as `scripts/setup bench` installs it, with the keys of one client.

use crate::http::Connection;
use crate::nexus::cache;
use crate::process::{Server, free_port, when_it_answers};
use anyhow::{Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

const BUCKET: &str = "packages";
const KEY: &str = "lamp";
const SECRET: &str = "open-sesame-1";

/// A server of object storage. Ended when dropped.
pub(crate) struct Storage {
    pub(crate) server: Server,
    keys: PathBuf,
}

impl Storage {
    /// Starts an empty one.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let folder = folder.join("seaweedfs");
        fs::create_dir_all(folder.join("data"))?;
        let keys = folder.join("keys");
        fs::write(&keys, format!("{KEY}:{SECRET}"))?;
        let identity = serde_json::json!({ "identities": [
            { "name": KEY, "credentials": [{ "accessKey": KEY, "secretKey": SECRET }], "actions": ["Read", "Write", "List"] },
            // Makes the bucket.
            { "name": "anonymous", "actions": ["Admin"] },
        ] });
        let file = folder.join("seaweed.json");
        fs::write(&file, identity.to_string())?;
        let ports = [pair_of_ports()?, pair_of_ports()?, pair_of_ports()?, pair_of_ports()?];
        let mut command = Command::new(weed()?);
        command.args([
            "server",
            "-s3",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
        ]);
        command.args(["-master.volumeSizeLimitMB=64", "-volume.max=0"]);
        command.args([format!("-dir={}", folder.join("data").display()), format!("-s3.config={}", file.display())]);
        for (name, port) in ["s3.port", "master.port", "volume.port", "filer.port"].iter().zip(ports) {
            command.arg(format!("-{name}={port}"));
        }
        command.env_clear().env("PATH", "/usr/bin:/bin");
        let server = Server::peer(command, "SeaweedFS", ports[0], &folder)?;
        let storage = Self { server, keys };
        when_it_answers(|| {
            let path = format!("/{BUCKET}");
            let reply = Connection::open(storage.server.address.parse()?)?.call("PUT", &path, &[], b"")?;
            ensure!(reply.status == 200, "making a bucket: {} {}", reply.status, reply.text());
            Ok(())
        })?;
        Ok(storage)
    }

    /// The settings of a server of packages that keeps its bytes here, below this prefix.
    pub(crate) fn settings(&self, prefix: &str) -> Vec<(&'static str, String)> {
        vec![
            ("DAYLIGHT_STORE_OBJECTS", format!("s3://{BUCKET}/{prefix}")),
            ("DAYLIGHT_STORE_ENDPOINT", format!("http://{}", self.server.address)),
            ("DAYLIGHT_STORE_CREDENTIALS", format!("file:{}", self.keys.display())),
        ]
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // After SIGTERM it goes on for half a minute.
        let id = i32::try_from(self.server.id()).ok().and_then(Pid::from_raw);
        let _ = id.map(|id| kill_process(id, Signal::KILL));
    }
}

/// Its program.
pub(crate) fn weed() -> Result<PathBuf> {
    Ok(cache()?.join("tools/objects/weed"))
}

/// A free port: SeaweedFS takes the one that is 10,000 above it, too.
fn pair_of_ports() -> Result<u16> {
    loop {
        let port = free_port()?;
        if port.checked_add(10_000).is_some_and(|other| TcpListener::bind(("127.0.0.1", other)).is_ok()) {
            return Ok(port);
        }
    }
}
