//! Publishes over some connections, on each of which one follows the acknowledgement of the last.

use crate::http::Connection;
use crate::process::{Server, TOKEN};
use crate::spread::Spread;
use anyhow::{Context, Result, ensure};
use std::time::Instant;

/// What a client publishes at a time: uploads, of which each follows the answer of the last.
pub(crate) struct Publish(pub(crate) Vec<Upload>);

/// One request.
pub(crate) struct Upload {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

impl Publish {
    fn run(&self, connection: &mut Connection) -> Result<()> {
        for Upload { method, path, bytes } in &self.0 {
            let reply = connection.call(method, path, &[("Authorization", TOKEN)], bytes)?;
            ensure!(matches!(reply.status, 200 | 201), "{method} {path}: {} {}", reply.status, reply.text());
        }
        Ok(())
    }
}

/// Publishes all over this many connections. Returns the milliseconds of each.
pub(crate) fn publish_all(server: &Server, all: &[Publish], connections: usize) -> Result<Spread> {
    let address = server.address.parse()?;
    let publisher = |mine: &[Publish]| -> Result<Vec<f64>> {
        let mut connection = Connection::open(address)?;
        let mut times = Vec::with_capacity(mine.len());
        for publish in mine {
            let began = Instant::now();
            publish.run(&mut connection)?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        Ok(times)
    };
    let mut spread = Spread::default();
    std::thread::scope(|scope| {
        let share = all.len().div_ceil(connections);
        let threads: Vec<_> = all.chunks(share).map(|mine| scope.spawn(move || publisher(mine))).collect();
        for thread in threads {
            let times = thread.join().ok().context("a publishing thread panicked")??;
            times.into_iter().for_each(|time| spread.add(time));
        }
        Ok(spread)
    })
}
