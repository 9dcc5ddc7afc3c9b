//! Servers of object storage that `scripts/setup test` fetches: SeaweedFS and S3Proxy, each on ports of loopback.

mod relay;

pub(crate) use relay::{Lie, Relay};

use super::central::cache;
use super::{Connection, SmallDisk, eventually, free_port};
use rustix::process::{Pid, Signal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The keys of every server, as `store.credentials` has them.
const KEYS: &str = "lamp:open-sesame-1";
/// The bucket that every server has.
const BUCKET: &str = "packages";

/// The tested servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectProduct {
    /// In Go, with an index of its own.
    SeaweedFs,
    /// In Java, in front of a folder.
    S3Proxy,
}

/// A server with a folder of its own. Dropping it kills it.
pub(crate) struct ObjectServer {
    product: ObjectProduct,
    process: Option<Child>,
    host: Ipv4Addr,
    port: u16,
    /// The ports of the parts of SeaweedFS. They are a part of its names.
    inner_ports: [u16; 3],
    folder: TempDir,
    disk: Option<SmallDisk>,
}

impl ObjectServer {
    /// Starts one with an empty bucket.
    pub(crate) fn start(product: ObjectProduct) -> Self {
        Self::start_on(product, None, Ipv4Addr::LOCALHOST)
    }

    /// Starts one with an empty bucket at this address of the machine.
    pub(crate) fn start_at(product: ObjectProduct, host: Ipv4Addr) -> Self {
        Self::start_on(product, None, host)
    }

    /// Starts one whose data has a file system of its own, of this size.
    pub(crate) fn start_on_small_disk(product: ObjectProduct, bytes: u64) -> Self {
        Self::start_on(product, Some(bytes), Ipv4Addr::LOCALHOST)
    }

    fn start_on(product: ObjectProduct, disk: Option<u64>, host: Ipv4Addr) -> Self {
        let folder = TempDir::new().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(folder.path().join("keys"), KEYS).unwrap();
        let disk = disk.map(|bytes| SmallDisk::at(&data, bytes));
        let mut server =
            Self { product, process: None, host, port: port(), inner_ports: [(); 3].map(|()| port()), folder, disk };
        server.resume();
        server.curl(&["-X", "PUT"], BUCKET);
        server
    }

    /// Starts it again on its port, with its content.
    pub(crate) fn resume(&mut self) {
        // Others may have taken one of its inner ports meanwhile.
        for _ in 0..5 {
            if self.try_to_resume() {
                return;
            }
            self.inner_ports = [(); 3].map(|()| port());
        }
        panic!("{:?} did not start: {}", self.product, self.log());
    }

    fn try_to_resume(&mut self) -> bool {
        let mut command = match self.product {
            ObjectProduct::SeaweedFs => self.seaweed(),
            ObjectProduct::S3Proxy => self.s3proxy(),
        };
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        if let Some(disk) = &self.disk {
            command = disk.on(&command);
        }
        let spawned = command.stdout(log.try_clone().unwrap()).stderr(log).spawn();
        let mut process = spawned.unwrap_or_else(|error| panic!("the object storage of `scripts/setup test`: {error}"));
        let is_up = eventually(|| {
            if let Some(ended) = process.try_wait().unwrap() {
                let log = self.log();
                assert!(log.contains("address already in use"), "{:?} ended with {ended}: {log}", self.product);
                return Ok(false);
            }
            let mut connection = Connection::open(self.address()).map_err(|error| error.to_string())?;
            connection.call("GET", "/", &[], b"").map(|_| true).map_err(|error| error.to_string())
        });
        self.process = is_up.then_some(process);
        is_up
    }

    fn seaweed(&self) -> Command {
        let (key, secret) = KEYS.split_once(':').unwrap();
        let identity = serde_json::json!({ "identities": [{
            "name": "lamp", "credentials": [{ "accessKey": key, "secretKey": secret }],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }] });
        let file = self.folder.path().join("seaweed.json");
        std::fs::write(&file, identity.to_string()).unwrap();
        let mut command = Command::new(cache().join("tools/objects/weed"));
        command
            .arg("server")
            .arg(format!("-dir={}", self.data().display()))
            .arg(format!("-s3.config={}", file.display()));
        command.arg(format!("-s3.port={}", self.port));
        for (name, port) in ["master.port", "volume.port", "filer.port"].iter().zip(self.inner_ports) {
            command.arg(format!("-{name}={port}"));
        }
        // Two servers on one machine would both take the default ports of these.
        command.args(["-s3", "-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command.arg(format!("-ip={}", self.host)).arg(format!("-ip.bind={}", self.host));
        command.args(["-master.volumeSizeLimitMB=64", "-volume.max=0"]);
        // After a kill the only master waits that long before it elects itself. The default is ten seconds.
        command.arg("-master.electionTimeout=1s");
        command
    }

    fn s3proxy(&self) -> Command {
        let (key, secret) = KEYS.split_once(':').unwrap();
        let properties = format!(
            "s3proxy.endpoint={}\ns3proxy.authorization=aws-v4\ns3proxy.identity={key}\ns3proxy.credential={secret}\n\
             jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={}\n",
            self.url(),
            self.data().display()
        );
        let file = self.folder.path().join("s3proxy.conf");
        std::fs::write(&file, properties).unwrap();
        let mut command = Command::new("java");
        // The interpreter and the simple compiler start faster than the one for long runs.
        command.args(["-XX:TieredStopAtLevel=1", "-Xmx128m", "-jar"]).arg(cache().join("tools/objects/s3proxy.jar"));
        command.arg("--properties").arg(file);
        command
    }

    /// Its file system, of [`Self::start_on_small_disk`].
    pub(crate) fn disk(&self) -> &SmallDisk {
        self.disk.as_ref().unwrap()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Its address.
    pub(crate) fn address(&self) -> SocketAddr {
        (self.host, self.port).into()
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// The file with its keys.
    pub(crate) fn keys(&self) -> PathBuf {
        self.folder.path().join("keys")
    }

    /// The settings of a server of packages that keeps its objects here below this prefix, and asks it at this URL.
    pub(crate) fn settings(&self, prefix: &str, url: &str) -> String {
        settings(prefix, url, &self.keys())
    }

    /// The keys of all objects below a prefix.
    pub(crate) fn objects(&self, prefix: &str) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        loop {
            let after = keys.last().map(|last| format!("&start-after={}", last.replace('/', "%2F")));
            let (prefix, after) = (prefix.replace('/', "%2F"), after.unwrap_or_default());
            let list = self.curl(&[], &format!("{BUCKET}?list-type=2&prefix={prefix}%2F{after}"));
            keys.extend(list.split("<Key>").skip(1).map(|rest| rest.split_once("</Key>").unwrap().0.to_owned()));
            if list.contains("<IsTruncated>false</IsTruncated>") {
                return keys;
            }
        }
    }

    /// Deletes an object.
    pub(crate) fn delete(&self, key: &str) {
        self.curl(&["-X", "DELETE"], &format!("{BUCKET}/{key}"));
    }

    /// Calls it with the keys of every server, and returns its answer.
    fn curl(&self, arguments: &[&str], path: &str) -> String {
        let mut command = Command::new("curl");
        // curl 7.88 leaves out the header, without which S3Proxy refuses.
        command.args(["-sS", "--fail-with-body", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", KEYS]);
        command.args(["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]).args(arguments);
        let output = command.arg(format!("{}/{path}", self.url())).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{path}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Kills it. Its port is closed.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Suspends it: it answers nothing, while its port accepts connections.
    pub(crate) fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it run on.
    pub(crate) fn run_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(self.process.as_ref().unwrap()), signal).unwrap();
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the log of the object storage:\n{}", self.log());
        }
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The settings of a server of packages.
fn settings(prefix: &str, url: &str, keys: &Path) -> String {
    let keys = keys.display();
    format!("[store]\nobjects = \"s3://{BUCKET}/{prefix}\"\nendpoint = \"{url}\"\ncredentials = \"file:{keys}\"\n")
}

/// A free port: SeaweedFS takes the one that is 10,000 above it, too.
fn port() -> u16 {
    let is_pair =
        |port: &u16| port.checked_add(10_000).is_some_and(|other| TcpListener::bind(("127.0.0.1", other)).is_ok());
    std::iter::repeat_with(free_port).find(is_pair).unwrap()
}
