//! Nexus, as `scripts/setup bench` installs it in the user's cache folder, with a data folder of its own.

use crate::http::Connection;
use crate::process::{Server, free_port};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The measured version: the newest one on Central.
const VERSION: &str = "3.71.0-06";
/// A hosted repository for releases, which every new Nexus has.
pub(crate) const ROOT: &str = "/repository/maven-releases";
/// `admin:admin123`, the initial password of a Nexus that generates none.
const ADMIN: &str = "Basic YWRtaW46YWRtaW4xMjM=";
/// It takes a minute to start, and several on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// The documented minimum of the heap and of other memory.
const MEMORY: [(&str, &str); 3] = [("JAVA_MIN_MEM", "1024M"), ("JAVA_MAX_MEM", "1024M"), ("DIRECT_MAX_MEM", "1024M")];

/// A running Nexus with its data. Ended when dropped.
pub(crate) struct Nexus {
    pub(crate) server: Server,
    _data: TempDir,
}

impl Nexus {
    /// Starts it with anonymous read access, as Daylight has it.
    pub(crate) fn start() -> Result<Self> {
        let folder = folder()?;
        ensure!(folder.exists(), "there is no Nexus in {}: `scripts/setup bench` installs it", folder.display());
        let data = tempfile::tempdir()?;
        let port = free_port()?;
        for part in ["etc", "log", "tmp"] {
            fs::create_dir(data.path().join(part))?;
        }
        let properties = format!(
            "application-host=127.0.0.1\napplication-port={port}\nnexus-features=nexus-core-feature,nexus-repository-maven\n\
             nexus.onboarding.enabled=false\nnexus.security.randompassword=false\n"
        );
        fs::write(data.path().join("etc/nexus.properties"), &properties)?;
        let log = data.path().join("said");
        let mut command = Command::new(folder.join("bin/nexus"));
        command.arg("server").env("KARAF_DATA", data.path()).envs(MEMORY);
        println!("command: {command:?}\n{properties}");
        let said = File::create(&log)?;
        let child = command.stdin(Stdio::null()).stderr(said.try_clone()?).stdout(said).spawn();
        let server = Server::beside(child.with_context(|| format!("starting {command:?}"))?, "Nexus", port);
        let nexus = Self { server, _data: data };
        nexus.await_start(&log)?;
        let anyone = br#"{"enabled": true, "userId": "anonymous", "realmName": "NexusAuthorizingRealm"}"#;
        let headers = [("Authorization", ADMIN), ("Content-Type", "application/json")];
        let reply = nexus.connect()?.call("PUT", "/service/rest/v1/security/anonymous", &headers, anyone)?;
        ensure!(reply.status == 200, "enabling anonymous access: {} {}", reply.status, reply.text());
        Ok(nexus)
    }

    /// Uploads a file, and checks that it can be read.
    pub(crate) fn deploy(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let path = format!("{ROOT}{path}");
        let reply = self.connect()?.call("PUT", &path, &[("Authorization", ADMIN)], bytes)?;
        ensure!(reply.status == 201, "{path}: {} {}", reply.status, reply.text());
        let reply = self.connect()?.call("GET", &path, &[], b"")?;
        ensure!(reply.status == 200 && reply.body == bytes, "{path} differs from the deployed bytes");
        Ok(())
    }

    /// Creates a proxy repository of this name for an upstream.
    pub(crate) fn stand_for(&self, name: &str, upstream: &str) -> Result<()> {
        let settings = serde_json::json!({
            "name": name,
            "online": true,
            "storage": { "blobStoreName": "default", "strictContentTypeValidation": false },
            "proxy": { "remoteUrl": upstream, "contentMaxAge": -1, "metadataMaxAge": 1440 },
            "negativeCache": { "enabled": true, "timeToLive": 1440 },
            "httpClient": { "blocked": false, "autoBlock": false },
            "maven": { "versionPolicy": "RELEASE", "layoutPolicy": "PERMISSIVE" },
        });
        let headers = [("Authorization", ADMIN), ("Content-Type", "application/json")];
        let path = "/service/rest/v1/repositories/maven/proxy";
        let made = self.connect()?.call("POST", path, &headers, settings.to_string().as_bytes())?;
        ensure!(made.status == 201, "making a repository: {} {}", made.status, made.text());
        Ok(())
    }

    fn await_start(&self, log: &Path) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < TIME_LIMIT {
            let reply =
                self.connect().and_then(|mut to| Ok(to.call("GET", "/service/rest/v1/status/writable", &[], b"")?));
            if reply.is_ok_and(|reply| reply.status == 200) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        let said = fs::read_to_string(log)?;
        bail!("Nexus did not start: {}", said.lines().rev().take(40).collect::<Vec<_>>().join("\n"))
    }

    fn connect(&self) -> Result<Connection> {
        Ok(Connection::open(self.server.address.parse()?)?)
    }
}

fn folder() -> Result<PathBuf> {
    Ok(cache()?.join("nexus").join(format!("nexus-base-template-{VERSION}")))
}

/// The cache folder of benchmarks and tests.
pub(crate) fn cache() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    Ok(cache.context("a home")?.join("daylight"))
}
