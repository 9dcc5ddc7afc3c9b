//! A build without its client: the requests of recorded builds, five at a time.

use super::recorded::is_artifact;
use crate::http::Connection;
use crate::process::Server;
use anyhow::{Context, Result, ensure};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// As many as Maven downloads at a time.
const CONNECTIONS: usize = 5;

/// Requests these paths below a path of the server; the checksum of a file after the file, as Maven does. Returns the bytes of the
/// artifacts: a server may write checksums in its own form.
pub(crate) fn run(server: &Server, base: &str, requests: &[String]) -> Result<u64> {
    let all: HashSet<&str> = requests.iter().map(String::as_str).collect();
    let artifacts: Vec<&String> = requests.iter().filter(|path| is_artifact(path)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let thread = || -> Result<u64> {
            let (mut connection, mut bytes) = (Connection::open(server.address.parse()?)?, 0);
            let mut get = |path: &str| {
                let path = format!("{}{path}", base.trim_end_matches('/'));
                let reply = connection.call("GET", &path, &[], b"")?;
                ensure!(reply.status == 200, "{path} of {}: {}", server.name, reply.status);
                Ok(reply.body.len() as u64)
            };
            while let Some(path) = artifacts.get(next.fetch_add(1, Relaxed)) {
                bytes += get(path)?;
                let checksum = format!("{path}.sha1");
                if all.contains(checksum.as_str()) {
                    get(&checksum)?;
                }
            }
            Ok(bytes)
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(thread)).collect();
        threads.into_iter().map(|thread| thread.join().ok().context("a thread panicked")?).sum()
    })
}
