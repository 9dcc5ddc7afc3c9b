//! The stages of the pages about the front of applications: a front of the application that the page writes, and files for its settings.

use super::shims;
use super::stage::Stage;
use crate::tls::Certificate;
use crate::world::{ADMIN, Memcached, Person, Server, World, eventually};
use rustix::process::Signal;
use std::fs;
use std::process::Command;

/// The fronts that the page starts end as soon as they listen. From the first request on another one runs, as it would at the other terminal.
pub(super) fn stage() -> Stage {
    let certificate = Certificate::new();
    let (file, key) = (certificate.file(), certificate.file().with_file_name("key.pem"));
    Stage::on(World::start())
        .name("/etc/ssl/shop.pem", file.to_str().unwrap())
        .name("/etc/ssl/shop.key", key.to_str().unwrap())
        .folder("/srv/shop/storage")
        .reads("toml", checked)
        .before("curl -sS -D - http://127.0.0.1:8080/\n", |stage| begin(stage, "shop", false))
        .before("explain --event $event", ended)
        .keep(certificate)
}

/// The same for pages that the application of the page writes, with a memcached.
pub(super) fn written_pages() -> Stage {
    let memcached = Memcached::start();
    Stage::on(World::start())
        .name("127.0.0.1:11211", &memcached.authority())
        .reads("toml", checked)
        .before("--compressed -H", |stage| begin(stage, "bank", true))
        .before("explain --event $event", ended)
        .after(told)
        .keep(memcached)
}

/// The API and metrics have what the requests of the page did.
fn told(stage: &mut Stage) {
    let admin = Person::new(stage.text("127.0.0.1:8081").parse().unwrap(), Some(ADMIN.to_owned()));
    let apps = admin.get("/api/v1/apps").expect(200).json();
    let pages = &apps["apps"][0]["pages"];
    let requests = pages["requests"].as_object().unwrap();
    assert!(requests["hit"].as_u64() >= Some(2) && requests["miss"] == 1, "{apps}");
    let metrics = admin.get("/metrics").expect(200);
    let line = format!("daylight_app_pages_total{{app=\"bank\",outcome=\"hit\"}} {}\n", requests["hit"]);
    assert!(metrics.text().contains(&line), "no {line}");
}

/// The program can use the settings.
fn checked(stage: &Stage, text: &str) -> Result<(), String> {
    let file = stage.home().join(".block.toml");
    fs::write(&file, text).unwrap();
    let mut daylight = Command::new(shims::daylight(stage.home()));
    let output = daylight.args(["front", "--check", "--config"]).arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(said.into_owned()) }
}

/// Starts a front with the command of the page, in the folder that the page has made, and with the settings there if there are some.
fn begin(stage: &mut Stage, folder: &str, has_settings: bool) {
    let (folder, data) = (stage.home().join(folder), stage.home().join("front"));
    let command = format!("cd '{}' && exec puma --quiet --bind tcp://127.0.0.1:$PORT", folder.display());
    let settings = folder.join("daylight.toml");
    let settings = if has_settings { &["--config", settings.to_str().unwrap()][..] } else { &[] };
    let arguments = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", data.to_str().unwrap()];
    let arguments = [&arguments[..], settings, &["--", "sh", "-c", &command]].concat();
    let log = stage.home().join("front.log");
    let mut server = Server::spawn_front(&arguments, &[("PATH", "/usr/bin:/bin")], &log).ready();
    let line = server.await_line("admin page on http://");
    let admin = line.split_once("http://").unwrap().1;
    stage.rename("127.0.0.1:8081", admin);
    stage.call(admin);
    stage.rename("127.0.0.1:8080", &server.address().to_string());
    stage.hold(Running(Some(server)));
}

/// A front whose command ends with it.
struct Running(Option<Server>);

impl Drop for Running {
    fn drop(&mut self) {
        let Some(server) = self.0.take() else { return };
        server.signal(Signal::TERM);
        if !std::thread::panicking() {
            server.exit_code();
        }
    }
}

/// The event of a response is known a moment after its last byte.
fn ended(stage: &mut Stage) {
    let admin = Person::new(stage.text("127.0.0.1:8081").parse().unwrap(), Some(ADMIN.to_owned()));
    let path = format!("/api/v1/events/{}", stage.variable("event"));
    eventually(|| match admin.get(&path).status {
        200 => Ok(()),
        status => Err(format!("{path}: {status}")),
    });
}
