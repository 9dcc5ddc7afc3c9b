//! The environment of the tests: the real program on a folder of its own, callers, gems, and real clients.

mod alertmanager;
pub(crate) mod bad_sinks;
mod balancer;
mod browser;
mod central;
mod client;
mod door;
mod engines;
mod findings;
mod flag;
pub(crate) mod frames;
mod gem;
mod http;
mod index;
mod koji;
mod machine_clock;
mod maven;
mod memcached;
mod network;
mod nodes;
mod objects;
mod passed_socket;
mod pebble;
mod person;
mod postgres;
mod process;
mod program;
mod prometheus;
mod promtool;
mod rails;
mod reader;
mod recorder;
mod redis;
mod release;
mod repositories;
mod ruby;
mod said;
mod server;
mod small_disk;
mod super_pom;
mod upstream;
mod watched;
mod wire;

pub(crate) use alertmanager::Alertmanager;
pub(crate) use balancer::{Balancer, BalancerProduct};
pub(crate) use browser::{browser, npm_package};
pub(crate) use central::{Central, cache};
pub(crate) use client::{Client, with_each_client};
pub(crate) use door::Door;
pub(crate) use engines::{engines, python};
pub(crate) use flag::SetAtEnd;
pub(crate) use gem::{Gem, hex};
pub(crate) use http::{Answer, Connection};
pub(crate) use index::{Index, Sum, sums};
pub(crate) use koji::{Counted, FileTrouble, KojiHub, Trouble};
pub(crate) use maven::{Machine, Project, metadata};
pub(crate) use memcached::{Memcached, free_port};
pub(crate) use network::Network;
pub(crate) use nodes::Nodes;
pub(crate) use objects::{Lie, ObjectProduct, ObjectServer, Relay};
pub(crate) use pebble::{BOUND, Pebble, Ports, almost_over};
pub(crate) use person::Person;
pub(crate) use postgres::{POSTGRES_PASSWORD, Postgres, PostgresRelease, Standby};
pub(crate) use program::program;
pub(crate) use prometheus::Prometheus;
pub(crate) use promtool::{promtool, promtool_program};
pub(crate) use rails::Rails;
pub(crate) use reader::{Follower, Reader};
pub(crate) use recorder::Recorder;
pub(crate) use redis::{REDIS_PASSWORD, Redis};
pub(crate) use release::Release;
pub(crate) use ruby::{App, Ruby};
pub(crate) use said::Said;
pub(crate) use server::{Passed, Server, TIMEOUT, await_true, eventually};
pub(crate) use small_disk::SmallDisk;
pub(crate) use upstream::{Asked, Parts, Says, Upstream};
pub(crate) use watched::Watched;
pub(crate) use wire::{Cut, Wire};

use rustix::process::Signal;
use serde_json::json;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The hosted gem repository of a new data folder.
pub(crate) const FIRST: &str = "gems-private";

/// The admin token of every server.
pub(crate) const ADMIN: &str = "daylight_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A server and its data folder. Dropping it ends everything that it started.
pub(crate) struct World {
    server: Option<Server>,
    folder: TempDir,
    settings: &'static [(&'static str, &'static str)],
    flags: &'static [&'static str],
}

impl World {
    /// Starts the program on an empty folder.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with these settings in its environment.
    pub(crate) fn start_with(settings: &'static [(&'static str, &'static str)]) -> Self {
        let mut world = Self { server: None, folder: TempDir::new().unwrap(), settings, flags: &[] };
        world.resume();
        world
    }

    /// The same with this configuration file.
    pub(crate) fn start_with_file(text: &str) -> Self {
        Self::start_with_file_and(text, &[])
    }

    /// The same with both.
    pub(crate) fn start_with_file_and(text: &str, settings: &'static [(&'static str, &'static str)]) -> Self {
        let mut world = Self { server: None, folder: TempDir::new().unwrap(), settings, flags: &[] };
        world.configure(text);
        world.resume();
        world
    }

    /// Starts it on an empty folder in conformance mode, with this key.
    pub(crate) fn start_in_conformance(settings: &'static [(&'static str, &'static str)]) -> Self {
        let mut world = Self { server: None, folder: TempDir::new().unwrap(), settings, flags: &["--conformance"] };
        world.resume();
        world
    }

    /// The same with this configuration file, and these settings in its environment.
    pub(crate) fn start_in_conformance_with_file(
        text: &str,
        settings: &'static [(&'static str, &'static str)],
    ) -> Self {
        let mut world = Self { settings, ..Self::stopped_in_conformance() };
        world.configure(text);
        world.resume();
        world
    }

    /// A folder for a server in conformance mode, not started yet.
    pub(crate) fn stopped_in_conformance() -> Self {
        Self { server: None, folder: TempDir::new().unwrap(), settings: &[], flags: &["--conformance"] }
    }

    /// Starts it on an empty file system of this size, with this configuration file.
    pub(crate) fn start_on_small_disk(bytes: u64, text: &str) -> Self {
        Self::start_on_small_disk_after("", bytes, text)
    }

    /// The same after commands of a shell in its folder. `$2` is the program.
    pub(crate) fn start_on_small_disk_after(before: &str, bytes: u64, text: &str) -> Self {
        let mut world = Self { server: None, folder: TempDir::new().unwrap(), settings: &[], flags: &[] };
        world.configure(text);
        let (file, log) = (world.file(), world.folder.path().join("log"));
        let settings = [("DAYLIGHT_CONFIG", file.to_str().unwrap())];
        let server = Server::spawn_on_small_disk(&world.data(), bytes, before, ADMIN, &settings, &log);
        world.server = Some(server.ready());
        world
    }

    /// The data folder of [`World::start_on_small_disk`], as other processes see it while the server runs.
    pub(crate) fn data_on_small_disk(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.server().id().as_raw_nonzero()));
        root.join(self.data().strip_prefix("/").unwrap())
    }

    /// Continues without its command line flags.
    pub(crate) fn without_flags(mut self) -> Self {
        self.stop();
        self.flags = &[];
        self.resume();
        self
    }

    /// Writes the configuration file.
    pub(crate) fn configure(&self, text: &str) {
        write(&self.file(), text);
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("daylight.toml")
    }

    /// Waits until the log has this text.
    pub(crate) fn await_log(&self, text: &str) {
        self.server().await_log(text);
    }

    /// Starts it again, on another port.
    pub(crate) fn resume(&mut self) {
        self.server = Some(self.begin().ready());
    }

    /// Starts the program without waiting until it listens.
    pub(crate) fn begin(&self) -> Server {
        let file = self.file();
        let mut settings = self.settings.to_vec();
        if file.exists() {
            settings.push(("DAYLIGHT_CONFIG", file.to_str().unwrap()));
        }
        let machine = self.machine_variables();
        settings.extend(machine.iter().flatten().map(|(name, value)| (*name, value.as_str())));
        Server::spawn((&self.data(), self.flags), ADMIN, &settings, &self.folder.path().join("log"))
    }

    /// Starts it on an empty folder, with a socket that is already listening.
    pub(crate) fn start_on(socket: TcpListener, way: Passed) -> Self {
        Self::start_on_with(socket, way, &[])
    }

    /// The same in conformance mode.
    pub(crate) fn start_in_conformance_on(socket: TcpListener) -> Self {
        Self::start_on_with(socket, Passed::AsInput, &["--conformance"])
    }

    /// The same with this configuration file.
    pub(crate) fn start_in_conformance_on_with_file(socket: TcpListener, text: &str) -> Self {
        let mut world = Self::stopped_in_conformance();
        world.configure(text);
        world.listen_on(socket, Passed::AsInput);
        world
    }

    fn start_on_with(socket: TcpListener, way: Passed, flags: &'static [&'static str]) -> Self {
        let mut world = Self { server: None, folder: TempDir::new().unwrap(), settings: &[], flags };
        world.listen_on(socket, way);
        world
    }

    /// Restarts it in place, and waits until it has.
    pub(crate) fn restart(&mut self) {
        self.server.as_mut().unwrap().restart();
    }

    /// Waits until it has restarted in place by itself.
    pub(crate) fn await_restart(&mut self) {
        self.server.as_mut().unwrap().await_restart();
    }

    /// Makes it reload, and waits until its log has this text.
    pub(crate) fn reload(&self, until: &str) {
        self.server().signal(Signal::HUP);
        self.server().await_log(until);
    }

    /// Requests a restart in place, and waits until it refuses.
    pub(crate) fn restart_in_vain(&self) {
        self.server().signal(Signal::USR2);
        self.server().await_log("not restarting");
    }

    /// Stops it, and waits until it has.
    pub(crate) fn stop(&mut self) {
        self.server.take().unwrap().stop();
    }

    /// Kills it.
    pub(crate) fn kill(&mut self) {
        self.server.take().unwrap().kill();
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Every file of the data folder.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.data()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        files
    }

    /// The files of events as lines of JSON.
    pub(crate) fn event_lines(&self) -> Vec<PathBuf> {
        let is_one = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("events.jsonl");
        self.files().into_iter().filter(is_one).collect()
    }

    /// The files of kept events: segments and logs.
    pub(crate) fn kept_events(&self) -> Vec<PathBuf> {
        let is_one = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("events_");
        self.files().into_iter().filter(is_one).collect()
    }

    /// The address of the server as a URL.
    pub(crate) fn root(&self) -> String {
        format!("http://{}", self.server().address())
    }

    /// The URL of a repository for clients.
    pub(crate) fn url(&self, repository: &str) -> String {
        format!("{}/repository/{repository}/", self.root())
    }

    /// The lines that it printed before the address.
    pub(crate) fn said(&self) -> &[String] {
        self.server().said()
    }

    /// Its log.
    pub(crate) fn log(&self) -> String {
        self.server().log()
    }

    /// The address of its socket.
    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.server().address()
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// A caller without a token.
    pub(crate) fn anon(&self) -> Person {
        Person::new(self.server().address(), None)
    }

    /// A caller with the admin token.
    pub(crate) fn admin(&self) -> Person {
        self.holder(ADMIN)
    }

    /// An event that has ended or is about to: the last byte of an answer may arrive before the server knows that it
    /// was sent.
    pub(crate) fn event(&self, id: &str) -> serde_json::Value {
        eventually(|| {
            let answer = self.admin().get(&format!("/api/v1/events/{id}"));
            if answer.status == 200 { Ok(answer.json()) } else { Err(format!("the event {id} is not kept")) }
        })
    }

    /// Sets the clock of a server in conformance mode.
    #[track_caller]
    pub(crate) fn set_time(&self, moment: &str) {
        let path = format!("/repository/{FIRST}/set_time");
        self.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
    }

    /// A caller with this secret, valid or not.
    pub(crate) fn holder(&self, secret: &str) -> Person {
        Person::new(self.server().address(), Some(secret.to_owned()))
    }

    /// A caller with a token of these scopes, for these repositories (none: all).
    pub(crate) fn person(&self, name: &str, scopes: &[&str], repositories: &[&str]) -> Person {
        let token = json!({ "name": name, "owner": name, "scopes": scopes, "repositories": repositories });
        let made = self.admin().post_json("/api/v1/tokens", &token).expect(201).json();
        self.holder(made["secret"].as_str().unwrap())
    }
}

/// Calls functions one after the other on the same server. The output of a failed test ends with the name of its case.
macro_rules! each {
    ($world:expr, [$($case:ident),+ $(,)?]) => {
        $(println!("{}", stringify!($case).replace('_', " ")); $case($world);)+
    };
}
pub(crate) use each;

/// Writes a text file, and the folders above it.
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
