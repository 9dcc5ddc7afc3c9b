//! A relay between a client and a server: counts requests, and the bytes of the replies with their heads.

use anyhow::Result;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The relay. It listens until the program ends.
pub(super) struct Relay {
    pub(super) address: SocketAddr,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Relay {
    /// A relay to this address.
    pub(super) fn to(server: &str) -> Result<Self> {
        let (listener, server, counts) =
            (TcpListener::bind("127.0.0.1:0")?, server.to_owned(), Arc::<Counts>::default());
        let (address, counted) = (listener.local_addr()?, counts.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // Connections may end in any way.
                let _ = between(client, &server, &counted);
            }
        });
        Ok(Self { address, counts })
    }

    /// The number of requests and of reply bytes since the last call.
    pub(super) fn take(&self) -> [u64; 2] {
        [&self.counts.requests, &self.counts.bytes].map(|count| count.swap(0, Ordering::Relaxed))
    }
}

fn between(client: TcpStream, server: &str, counts: &Arc<Counts>) -> Result<()> {
    let server = TcpStream::connect(server)?;
    let (from_client, to_server, requests) = (client.try_clone()?, server.try_clone()?, counts.clone());
    // Clients send the head of a request at once, and no request here has a body.
    std::thread::spawn(move || {
        relay(from_client, to_server, |part| {
            requests.requests.fetch_add(u64::from(part.starts_with(b"GET ")), Ordering::Relaxed)
        })
    });
    let replies = counts.clone();
    std::thread::spawn(move || {
        relay(server, client, |part| replies.bytes.fetch_add(part.len() as u64, Ordering::Relaxed))
    });
    Ok(())
}

fn relay(mut from: TcpStream, mut to: TcpStream, count: impl Fn(&[u8]) -> u64) {
    let mut part = vec![0; 1 << 16];
    while let Ok(len @ 1..) = from.read(&mut part) {
        count(&part[..len]);
        if to.write_all(&part[..len]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
