//! Applications with the writers of docs/hc1.md, taken from that page, and entries as a test reads and ages them.

use crate::front::program::Front;
use crate::manual::page;
use crate::world::{Answer, Connection, Memcached, await_true, free_port, write};
use bytes::Bytes;
use format::page::hc1::{self, Entry, Timed};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The host of every request.
pub(super) const HOST: &str = "shop.example";
/// The servers of applications.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Unicorn,
    Puma,
    Wsgiref,
}

/// Each of them.
pub(super) const KINDS: [Kind; 3] = [Kind::Unicorn, Kind::Puma, Kind::Wsgiref];

/// A running application (`app.ru`, `app.py`). Dropping it ends it.
pub(super) struct Application {
    server: Option<Child>,
    folder: TempDir,
    url: String,
}

impl Application {
    /// With a writer for this memcached, whose pages depend on these counters.
    pub(super) fn start(kind: Kind, memcached: &str, counters: &str, pages: &Value) -> Self {
        let (folder, port) = (TempDir::new().unwrap(), free_port().to_string());
        let socket = folder.path().join("socket").display().to_string();
        let block = |language: &str| {
            let blocks = page::blocks("docs/hc1.md");
            blocks.into_iter().find(|block| block.language == language).unwrap().text
        };
        for (name, text) in [
            ("app.ru", include_str!("app.ru")),
            ("app.py", include_str!("app.py")),
            ("hc1.rb", &block("ruby")),
            ("hc1.py", &block("python")),
            ("requests.jsonl", ""),
        ] {
            write(&folder.path().join(name), text);
        }
        let bind = format!("unix://{socket}");
        let (arguments, url): (&[&str], _) = match kind {
            Kind::Unicorn => (&["/usr/bin/unicorn", "-E", "none", "-l", &socket, "app.ru"], format!("unix:{socket}")),
            Kind::Puma => {
                (&["/usr/bin/puma", "-q", "-e", "none", "-t", "4:4", "-b", &bind, "app.ru"], format!("unix:{socket}"))
            }
            Kind::Wsgiref => (&["/usr/bin/python3", "app.py"], format!("http://127.0.0.1:{port}")),
        };
        let errors = File::create(folder.path().join("errors")).unwrap();
        let mut command = Command::new(arguments[0]);
        command.args(&arguments[1..]).current_dir(&folder).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("LANG", "C.UTF-8").env("APP_FOLDER", folder.path()).env("PORT", &port);
        command.env("MEMCACHED", memcached).env("COUNTERS", counters).env("PYTHONDONTWRITEBYTECODE", "1");
        let spawned = command.stdin(Stdio::null()).stdout(errors.try_clone().unwrap()).stderr(errors).spawn();
        let server = spawned.unwrap_or_else(|error| panic!("{kind:?} of `scripts/setup test`: {error}"));
        let application = Self { server: Some(server), folder, url };
        application.set(pages);
        await_true(&format!("{kind:?} listens"), || match kind {
            Kind::Wsgiref => TcpStream::connect(format!("127.0.0.1:{port}")).is_ok(),
            Kind::Unicorn | Kind::Puma => UnixStream::connect(&socket).is_ok(),
        });
        application
    }

    /// Its address for the front.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Changes its pages.
    pub(super) fn set(&self, pages: &Value) {
        let next = self.folder.path().join("pages.next");
        write(&next, &pages.to_string());
        std::fs::rename(next, self.folder.path().join("pages.json")).unwrap();
    }

    /// Refills wait, or go on.
    pub(super) fn hold(&self, holds: bool) {
        let file = self.folder.path().join("held");
        if holds { write(&file, "") } else { std::fs::remove_file(file).unwrap() }
    }

    /// The requests that reached it (only those of `app.ru`).
    pub(super) fn requests(&self) -> Vec<Value> {
        let lines = std::fs::read_to_string(self.folder.path().join("requests.jsonl")).unwrap();
        lines.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }

    /// How many of them were refills.
    pub(super) fn refills(&self) -> usize {
        self.requests().iter().filter(|request| request["refill"] == "1").count()
    }

    /// Stops it. Its address refuses connections.
    pub(super) fn stop(&mut self) {
        let mut server = self.server.take().unwrap();
        rustix::process::kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        server.wait().unwrap();
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let errors = std::fs::read_to_string(self.folder.path().join("errors"));
            eprintln!("the application's log:\n{}", errors.unwrap_or_default());
        }
        if self.server.is_some() {
            self.stop();
        }
    }
}

/// A page of the application with these lifetimes: fresh, stale-while, stale-error.
pub(super) fn lasting(lives: [u32; 3], body: &str) -> Value {
    let [fresh, stale, error] = lives;
    let control = format!("max-age={fresh}, stale-while-revalidate={stale}, stale-if-error={error}");
    let headers =
        json!({"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Surrogate-Control": control});
    json!({ "headers": headers, "body": body })
}

/// A front of an application with pages on this server. It waits for the server as long as a busy machine takes.
pub(super) fn front(to: &str, server: &str, variables: &[(&str, &str)]) -> Front {
    let app = format!("[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{to}\"\n");
    let credentials = if variables.is_empty() { "" } else { "credentials = \"env:PAGES_PASSWORD\"\n" };
    let pages = format!("[app.pages]\nformat = \"hc1\"\ntimeout_ms = 10000\nservers = [\"{server}\"]\n{credentials}");
    Front::start(&[], &format!("{app}{pages}"), variables)
}

/// A request of a browser.
#[track_caller]
pub(super) fn get(front: &Front, target: &str, headers: &[(&str, &str)]) -> Answer {
    get_at(front.address(), target, headers)
}

/// The same, at the address of a front.
#[track_caller]
pub(super) fn get_at(front: SocketAddr, target: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = [&[("Host", HOST), ("Accept-Encoding", "gzip, br")], headers].concat();
    Connection::open(front).unwrap().call("GET", target, &headers, b"").unwrap()
}

/// A request of a client that knows no coding.
#[track_caller]
pub(super) fn plain(front: &Front, target: &str) -> Answer {
    front.ask("GET", target, &[("Host", HOST)], b"")
}

/// Has the application write a page.
#[track_caller]
pub(super) fn written(front: &Front, target: &str, headers: &[(&str, &str)]) -> Answer {
    let told = get(front, target, headers).expect(200);
    let status = told.header("cache-status").unwrap_or_default();
    assert!(!status.contains("hit"), "{target}: {:?}", told.headers);
    told
}

/// The entry at this key.
#[track_caller]
pub(super) fn entry(memcached: &Memcached, key: &str) -> Entry {
    let (flags, value) = memcached.get(key).unwrap_or_else(|| panic!("no {key}: {:?}", memcached.keys()));
    assert_eq!(flags, 0, "{key}");
    hc1::read(&Bytes::from(value.clone()), 1 << 20)
        .unwrap_or_else(|why| panic!("{why}: {}", String::from_utf8_lossy(&value)))
}

/// The page at this key.
#[track_caller]
pub(super) fn timed(memcached: &Memcached, key: &str) -> Timed {
    match entry(memcached, key) {
        Entry::Page(page) => *page,
        Entry::Vary(names) => panic!("{key} varies by {names:?}"),
    }
}

/// Makes a page older by so many seconds, and so its item.
#[track_caller]
pub(super) fn age(memcached: &Memcached, target: &str, seconds: u32) {
    let key = hc1::key(HOST, target);
    let (_, value) = memcached.get(&key).unwrap();
    let left = timed(memcached, &key);
    let left = left.fresh_s + left.stale_while_s.max(left.stale_error_s) - seconds;
    memcached.set_for(&key, left, &older(&value, seconds));
}

/// The same entry, stored so many seconds earlier. The checksum does not cover the first line.
pub(super) fn older(value: &[u8], seconds: u32) -> Vec<u8> {
    let mut fields = value.splitn(4, |byte| *byte == b' ');
    let [version, status, stored, rest] = std::array::from_fn(|_| fields.next().unwrap());
    let stored: i64 = std::str::from_utf8(stored).unwrap().parse().unwrap();
    let stored = (stored - i64::from(seconds)).to_string();
    [version, status, stored.as_bytes(), rest].join(&b' ')
}
