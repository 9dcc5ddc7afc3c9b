//! `daylight front` as a process, and its clients.

use crate::world::{ADMIN, Answer, Connection, Person, Server, eventually, program, write};
use rustix::process::Signal;
use serde_json::Value;
use std::net::SocketAddr;
use std::process::Output;
use tempfile::TempDir;

/// A running front. Dropping it ends it.
pub(crate) struct Front {
    server: Option<Server>,
    admin: SocketAddr,
    _folder: TempDir,
}

impl Front {
    /// In front of these backends.
    pub(crate) fn to(urls: &[&str]) -> Self {
        let to: Vec<&str> = urls.iter().flat_map(|url| ["--to", url]).collect();
        Self::start(&to, "", &[])
    }

    /// With these applications of a configuration file.
    pub(crate) fn configured(text: &str) -> Self {
        Self::start(&[], text, &[])
    }

    /// In front of a command, with these variables.
    pub(crate) fn running(command: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::start(&[&["--"], command].concat(), "", variables)
    }

    /// With these arguments, this configuration file unless it is empty, and these variables.
    pub(crate) fn start(arguments: &[&str], text: &str, variables: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let (data, file) = (folder.path().join("data"), folder.path().join("daylight.toml"));
        let mut all = vec!["--data", data.to_str().unwrap(), "--admin", "127.0.0.1:0"];
        if text.is_empty() {
            all.extend(["--listen", "127.0.0.1:0"]);
        } else {
            write(&file, text);
            all.extend(["--config", file.to_str().unwrap()]);
        }
        all.extend(arguments);
        let mut server = Server::spawn_front(&all, variables, &folder.path().join("log")).ready();
        let line = server.await_line("admin page on http://");
        let admin = line.split_once("http://").unwrap().1.parse().unwrap();
        Self { server: Some(server), admin, _folder: folder }
    }

    /// The address of the first application.
    pub(crate) fn address(&self) -> SocketAddr {
        self.server().address()
    }

    /// The process.
    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// The process, before its end.
    pub(crate) fn into_server(mut self) -> Server {
        self.server.take().unwrap()
    }

    /// A connection to the first application.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address()).unwrap()
    }

    /// A GET request on a connection of its own.
    #[track_caller]
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], b"")
    }

    /// A request on a connection of its own.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.connect().call(method, target, headers, body).unwrap()
    }

    /// Sends these bytes on a connection of its own, and reads one reply, if there is one.
    pub(crate) fn raw(&self, bytes: &[u8]) -> std::io::Result<Answer> {
        let mut connection = self.connect();
        connection.send(bytes)?;
        connection.answer(bytes.starts_with(b"HEAD "))
    }

    /// A caller of its API, with all rights.
    pub(crate) fn admin(&self) -> Person {
        Person::new(self.admin, Some(ADMIN.to_owned()))
    }

    /// The address of its API and its page.
    pub(crate) fn admin_address(&self) -> SocketAddr {
        self.admin
    }

    /// The event of a reply.
    #[track_caller]
    pub(crate) fn event(&self, answer: &Answer) -> Value {
        let id = answer.header("daylight-event").unwrap_or_else(|| panic!("no event: {:?}", answer.headers));
        eventually(|| {
            let told = self.admin().get(&format!("/api/v1/events/{id}"));
            if told.status == 200 { Ok(told.json()) } else { Err(format!("the event {id} is not kept")) }
        })
    }

    /// Runs a command of the program that calls its API.
    pub(crate) fn command(&self, arguments: &[&str]) -> Output {
        let mut command = program(arguments);
        command.env("DAYLIGHT_SERVER", format!("http://{}", self.admin)).env("DAYLIGHT_TOKEN", ADMIN);
        command.output().unwrap()
    }

    /// Replaces the program while it serves, and waits until the new one does.
    pub(crate) fn restart(&mut self) {
        self.server.as_mut().unwrap().restart();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        self.server().signal(signal);
    }
}
