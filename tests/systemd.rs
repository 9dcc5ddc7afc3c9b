//! The server as a service of systemd: what it tells, sockets that it is given, and its unit.

use crate::tls::Certificate;
use crate::world::{Connection, World, await_true};
use rustix::process::{Signal, kill_process};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A service manager that listens.
pub(crate) struct Manager {
    socket: UnixDatagram,
    _folder: TempDir,
    path: String,
}

impl Manager {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("notify").to_str().unwrap().to_owned();
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        Self { socket, _folder: folder, path }
    }

    /// The next message that is not one of the watchdog.
    pub(crate) fn told(&self) -> String {
        loop {
            let told = self.any();
            if told != "WATCHDOG=1\n" {
                return told;
            }
        }
    }

    fn any(&self) -> String {
        let mut message = [0; 4096];
        let length = self.socket.recv(&mut message).unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    }

    /// Starts a server that it manages, with these other settings.
    fn start(&self, more: &[(&'static str, &'static str)]) -> World {
        World::start_with(self.variables(more))
    }

    /// The variables of a server that it manages, and these others.
    pub(crate) fn variables(&self, more: &[(&'static str, &'static str)]) -> &'static [(&'static str, &'static str)] {
        let path: &'static str = Box::leak(self.path.clone().into_boxed_str());
        Box::leak([&[("NOTIFY_SOCKET", path)], more].concat().into_boxed_slice())
    }
}

#[test]
fn the_manager_hears_when_the_server_is_ready_reloads_restarts_in_place_and_stops() {
    let manager = Manager::new();
    let mut world = manager.start(&[]);
    let ready = format!("READY=1\nMAINPID={}\nSTATUS=serving at http://{}\n", world.id(), world.address());
    assert_eq!(manager.told(), ready);
    world.anon().get("/health/ready").expect(200);

    world.reload("");
    let reloading = manager.told();
    assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
    assert_eq!(manager.told(), ready);

    world.restart();
    assert!(manager.told().starts_with("RELOADING=1\n"));
    assert_eq!(manager.told(), ready, "the same process, and the same address");
    world.stop();
    assert!(manager.told().starts_with("STOPPING=1\n"));
}

#[test]
fn a_manager_with_a_watchdog_hears_that_the_server_lives_before_and_after_a_restart() {
    let manager = Manager::new();
    let mut world = manager.start(&[("WATCHDOG_USEC", "600000")]);
    for _ in 0..2 {
        while manager.any() != "WATCHDOG=1\n" {}
    }
    world.restart();
    while !manager.any().starts_with("READY=1") {}
    while manager.any() != "WATCHDOG=1\n" {}
    world.stop();
}

/// `systemd-socket-activate` with a server, which it becomes at the first connection.
struct Activated(Child);

impl Drop for Activated {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn several_sockets_of_systemd_are_served_with_tls_and_stay_open_at_a_restart() {
    let (certificate, folder) = (Certificate::new(), TempDir::new().unwrap());
    let settings = folder.path().join("daylight.toml");
    // An address of this test alone, as the program that binds it tells no port that it chose.
    let id = std::process::id();
    let host = format!("127.{}.{}.{}", 64 + (id >> 16) % 64, (id >> 8) & 255, id & 255);
    let (sockets, plain) = ([format!("{host}:8080"), format!("{host}:8081")], format!("{host}:8082"));
    // The port tells which of the sockets is that of plain HTTP.
    let text = format!("{}http_listen = \"0.0.0.0:8082\"\n[upstream]\nrubygems = \"none\"\n", certificate.settings());
    std::fs::write(&settings, text).unwrap();
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let activated = Command::new("systemd-socket-activate")
        .args([
            "--listen",
            &sockets[0],
            "--listen",
            &plain,
            "--listen",
            &sockets[1],
            env!("CARGO_BIN_EXE_daylight"),
            "serve",
        ])
        .arg("--config")
        .arg(&settings)
        .arg("--data")
        .arg(folder.path().join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let activated = Activated(activated);
    let ready = |socket: &str| {
        let to = format!("127.0.0.1:443:{socket}");
        let flags =
            ["--silent", "--fail", "--retry", "60", "--retry-connrefused", "--retry-delay", "1", "--max-time", "60"];
        let said = Command::new("curl")
            .args(flags)
            .args(["--connect-to", &to, "https://127.0.0.1/health/ready", "--cacert"])
            .arg(certificate.file())
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap()
    };
    let redirect = || {
        let mut connection = Connection::open(plain.parse().unwrap()).unwrap();
        let sent = connection.call("GET", "/a", &[], b"").unwrap().expect(308);
        sent.header("location").unwrap().to_owned()
    };
    let log = || std::fs::read_to_string(folder.path().join("log")).unwrap();
    for socket in &sockets {
        assert_eq!(ready(socket), "ready\n", "{}", log());
    }
    assert_eq!(redirect(), format!("https://{}/a", sockets[0]));
    let pid = rustix::process::Pid::from_child(&activated.0);
    kill_process(pid, Signal::USR2).unwrap();
    await_true("it serves again", || log().matches(" serving ").count() >= 2);
    for socket in &sockets {
        assert_eq!(ready(socket), "ready\n", "{}", log());
    }
    assert_eq!(redirect(), format!("https://{}/a", sockets[0]));
}

/// The units of the tree, with this program, in a folder.
fn units() -> (TempDir, Vec<PathBuf>) {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join("packaging/systemd");
    let folder = TempDir::new().unwrap();
    let mut units = Vec::new();
    for entry in std::fs::read_dir(tree).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let copy = folder.path().join(path.file_name().unwrap());
        std::fs::write(&copy, text.replace("/usr/local/bin/daylight", env!("CARGO_BIN_EXE_daylight"))).unwrap();
        if copy.extension().is_none_or(|kind| kind != "sysusers") {
            units.push(copy);
        }
    }
    assert_eq!(units.len(), 4, "{units:?}");
    (folder, units)
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    let (_folder, units) = units();
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&units).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    // It reads the units of the machine, too, and names their faults.
    let of_ours: Vec<&str> =
        said.lines().filter(|line| !line.starts_with("/lib/") && !line.starts_with("/usr/")).collect();
    assert!(verified.status.success() && of_ours.is_empty(), "{said}");
}

#[test]
fn the_services_are_exposed_to_little() {
    let (_folder, units) = units();
    for unit in units.iter().filter(|unit| unit.extension().is_some_and(|kind| kind == "service")) {
        // 20 is 2.0 of 10.
        let rated = Command::new("systemd-analyze")
            .args(["security", "--no-pager", "--offline=true", "--threshold=20"])
            .arg(unit)
            .output()
            .unwrap();
        assert!(rated.status.success(), "{}", String::from_utf8_lossy(&rated.stdout));
    }
}
