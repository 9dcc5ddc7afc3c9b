//! A wire from a node to a server, which can be cut in one direction or in both: bytes that are sent then arrive when it is mended.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Which directions are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Nothing,
    /// What the node says.
    There,
    /// What the server says.
    Back,
    Both,
}

type State = Arc<Line>;

/// What all connections of a wire share.
struct Line {
    cut: Mutex<Cut>,
    changed: Condvar,
    /// Bytes that passed to the server, and back.
    passed: [AtomicU64; 2],
}

/// Its address on loopback, until the test ends.
pub(crate) struct Wire {
    address: SocketAddr,
    state: State,
}

impl Wire {
    /// Lays one to a server.
    pub(crate) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state: State =
            Arc::new(Line { cut: Mutex::new(Cut::Nothing), changed: Condvar::new(), passed: Default::default() });
        let of_connections = state.clone();
        thread::spawn(move || {
            for client in listener.incoming().map(Result::unwrap) {
                let state = of_connections.clone();
                // A connection that either side closes is no failure.
                thread::spawn(move || drop(pass(&client, server, &state)));
            }
        });
        Self { address, state }
    }

    /// Its own address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The bytes that have passed so far to the server, and back.
    pub(crate) fn passed(&self) -> [u64; 2] {
        self.state.passed.each_ref().map(|bytes| bytes.load(Relaxed))
    }

    /// From now on these directions are cut, and the others are not.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.state.cut.lock().unwrap() = cut;
        self.state.changed.notify_all();
    }
}

fn pass(client: &TcpStream, server: SocketAddr, state: &State) -> io::Result<()> {
    let server = &TcpStream::connect(server)?;
    let one_way = |mut from: &TcpStream, mut to: &TcpStream, cut: Cut| {
        to.set_nodelay(true)?;
        let mut piece = [0; 16 << 10];
        loop {
            let read = from.read(&mut piece).unwrap_or(0);
            let is_cut = |now: &mut Cut| *now == Cut::Both || *now == cut;
            drop(state.changed.wait_while(state.cut.lock().unwrap(), is_cut).unwrap());
            if read == 0 {
                return to.shutdown(Shutdown::Write);
            }
            state.passed[usize::from(cut == Cut::Back)].fetch_add(read as u64, Relaxed);
            to.write_all(&piece[..read])?;
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = one_way(client, server, Cut::There);
        });
        one_way(server, client, Cut::Back)
    })
}
