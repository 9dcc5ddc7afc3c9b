//! A door to a server: an address of its own on loopback, until it is closed.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Passes bytes between its clients and the server. Dropping it breaks off their connections, and nothing listens there.
pub(crate) struct Door {
    address: SocketAddr,
    /// The connections of its clients; `None`: it is closed.
    clients: Arc<Mutex<Option<Vec<TcpStream>>>>,
    listening: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens one to the server at this address.
    pub(super) fn to(server: SocketAddr) -> Self {
        Self::holding(server, Duration::ZERO)
    }

    /// The same; it holds each piece of a request for so long, as a proxy does whose queue is full.
    pub(crate) fn holding(server: SocketAddr, time: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, clients) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Some(Vec::new()))));
        let known = clients.clone();
        let listening = thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                let Some(known) = &mut *known.lock().unwrap() else { return };
                known.push(client.try_clone().unwrap());
                // A connection that either side closes is no failure.
                thread::spawn(move || drop(pass(&client, server, time)));
            }
        });
        Self { address, clients, listening: Some(listening) }
    }

    /// Its own address.
    pub(crate) fn address(&self) -> SocketAddr {
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

/// Passes on what a client and the server say, until both have ended. Holds what the client says.
fn pass(client: &TcpStream, server: SocketAddr, time: Duration) -> io::Result<()> {
    let server = &TcpStream::connect(server)?;
    let one_way = |mut from: &TcpStream, mut to: &TcpStream| {
        to.set_nodelay(true)?;
        io::copy(&mut from, &mut to)?;
        to.shutdown(Shutdown::Write)
    };
    thread::scope(|scope| {
        scope.spawn(|| if time.is_zero() { one_way(client, server) } else { held(client, server, time) });
        one_way(server, client)
    })
}

/// Passes on each piece after this time.
fn held(mut from: &TcpStream, mut to: &TcpStream, time: Duration) -> io::Result<()> {
    to.set_nodelay(true)?;
    let mut piece = [0; 16 << 10];
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return to.shutdown(Shutdown::Write);
        }
        let came = Instant::now();
        while let Some(left) = time.checked_sub(came.elapsed()) {
            thread::park_timeout(left);
        }
        to.write_all(&piece[..read])?;
    }
}
