//! A caller: anonymous, or the holder of a token.

use super::{Answer, Connection, Gem};
use std::io;
use std::net::SocketAddr;

/// A caller, and the token in each of its requests.
#[derive(Clone)]
pub(crate) struct Person {
    address: SocketAddr,
    secret: Option<String>,
}

impl Person {
    /// A caller of this address with this secret.
    pub(crate) fn new(address: SocketAddr, secret: Option<String>) -> Self {
        Self { address, secret }
    }

    /// Its secret.
    pub(crate) fn secret(&self) -> &str {
        self.secret.as_deref().unwrap()
    }

    /// A caller of the same address with this secret.
    pub(crate) fn with_secret(&self, secret: &str) -> Self {
        Self::new(self.address, Some(secret.to_owned()))
    }

    /// A persistent connection.
    pub(crate) fn connect(&self) -> io::Result<Connection> {
        Connection::open(self.address)
    }

    /// A request on a persistent connection.
    pub(crate) fn on(
        &self,
        connection: &mut Connection,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Answer> {
        let mut all = headers.to_vec();
        all.extend(self.secret.as_deref().map(|secret| ("Authorization", secret)));
        connection.call(method, path, &all, body)
    }

    /// A request on a connection of its own.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.on(&mut self.connect().unwrap(), method, path, headers, body).unwrap()
    }

    /// Sends a GET request.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"")
    }

    /// Sends JSON.
    pub(crate) fn post_json(&self, path: &str, value: &serde_json::Value) -> Answer {
        self.ask("POST", path, &[("Content-Type", "application/json")], value.to_string().as_bytes())
    }

    /// Sends a PATCH request with JSON.
    pub(crate) fn patch_json(&self, path: &str, value: &serde_json::Value) -> Answer {
        self.ask("PATCH", path, &[("Content-Type", "application/json")], value.to_string().as_bytes())
    }

    /// Publishes a gem as `gem push` does.
    pub(crate) fn push(&self, repository: &str, gem: &Gem) -> Answer {
        self.push_on(&mut self.connect().unwrap(), repository, &gem.bytes()).unwrap()
    }

    /// Publishes bytes as a gem, on a persistent connection.
    pub(crate) fn push_on(&self, connection: &mut Connection, repository: &str, bytes: &[u8]) -> io::Result<Answer> {
        let path = format!("/repository/{repository}/api/v1/gems");
        self.on(connection, "POST", &path, &[("Content-Type", "application/octet-stream")], bytes)
    }

    /// Publishes a file at a path of a tree.
    pub(crate) fn put(&self, repository: &str, path: &str, bytes: &[u8]) -> Answer {
        self.ask("PUT", &format!("/repository/{repository}/{path}"), &[], bytes)
    }

    /// Reads the file at a path of a repository.
    pub(crate) fn file(&self, repository: &str, path: &str) -> Answer {
        self.get(&format!("/repository/{repository}/{path}"))
    }

    /// Deletes the file at a path of a repository, or everything below it.
    pub(crate) fn delete(&self, repository: &str, path: &str) -> Answer {
        self.ask("DELETE", &format!("/repository/{repository}/{path}"), &[], b"")
    }

    /// Yanks a version as `gem yank` does.
    pub(crate) fn yank(&self, repository: &str, name: &str, version: &str) -> Answer {
        self.yank_on(&mut self.connect().unwrap(), repository, name, version).unwrap()
    }

    /// Yanks a version, on a persistent connection.
    pub(crate) fn yank_on(
        &self,
        connection: &mut Connection,
        repository: &str,
        name: &str,
        version: &str,
    ) -> io::Result<Answer> {
        let path = format!("/repository/{repository}/api/v1/gems/yank");
        let form = format!("gem_name={name}&version={version}");
        self.on(connection, "DELETE", &path, &[("Content-Type", "application/x-www-form-urlencoded")], form.as_bytes())
    }
}
