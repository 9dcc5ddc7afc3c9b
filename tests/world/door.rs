//! A door to a server: an address of its own on loopback, until it is closed.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Passes bytes between its clients and the server. Dropping it breaks off their connections, and nothing listens there.
pub(super) struct Door {
    address: SocketAddr,
    /// The connections of its clients; `None`: it is closed.
    clients: Arc<Mutex<Option<Vec<TcpStream>>>>,
    listening: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens one to the server at this address.
    pub(super) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, clients) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Some(Vec::new()))));
        let known = clients.clone();
        let listening = thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                let Some(known) = &mut *known.lock().unwrap() else { return };
                known.push(client.try_clone().unwrap());
                // A connection that either side closes is no failure.
                thread::spawn(move || drop(pass(&client, server)));
            }
        });
        Self { address, clients, listening: Some(listening) }
    }

    /// Its own address.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let clients = self.clients.lock().unwrap().take();
        // Wakes the accepting thread, which closes the listening socket.
        drop(TcpStream::connect(self.address));
        let _ = self.listening.take().map(JoinHandle::join);
        clients.into_iter().flatten().for_each(|client| drop(client.shutdown(Shutdown::Both)));
    }
}

/// Passes on what a client and the server say, until both have ended.
fn pass(client: &TcpStream, server: SocketAddr) -> io::Result<()> {
    let server = &TcpStream::connect(server)?;
    let one_way = |mut from: &TcpStream, mut to: &TcpStream| {
        to.set_nodelay(true)?;
        io::copy(&mut from, &mut to)?;
        to.shutdown(Shutdown::Write)
    };
    thread::scope(|scope| {
        scope.spawn(|| one_way(client, server));
        one_way(server, client)
    })
}
