//! A server that gets its listening socket from its parent, as a service manager passes it.

use super::server::{Passed, Server};
use super::{ADMIN, World};
use std::net::TcpListener;

impl World {
    /// Starts the server with this socket.
    pub(super) fn listen_on(&mut self, socket: TcpListener, way: Passed) {
        let (log, file) = (self.folder.path().join("log"), self.file());
        let settings: &[(&str, &str)] = &[("DAYLIGHT_CONFIG", file.to_str().unwrap())];
        let settings = if file.exists() { settings } else { &[] };
        let started = Server::spawn_with_socket((&self.data(), self.flags), ADMIN, settings, &log, (socket, way));
        self.server = Some(started.ready());
    }
}
