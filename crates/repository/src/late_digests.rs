//! MD5 and SHA-512 of an upstream's file. They cost most of the time of hashing, and few clients ask for them, so they are made when a
//! client requests a checksum of that kind, and otherwise by a job within an hour.

use crate::content::Content;
use crate::workers::Workers;
use format::tree::Checksum;
use std::io;
use std::os::unix::fs::FileExt;
use store::{Hashes, Hashing, Held, Lane, MoreDigests, Store};
use telemetry::{Event, Op, give_way};

/// Bytes that are hashed in place, in about the time of two thread switches.
const SMALL: u64 = 8 << 10;
/// Bytes that are hashed in one turn of a thread, so that other work of its lane does not wait for a whole file.
const TURN: u64 = 4 << 20;
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// What makes digests, and keeps them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LateDigests<'a> {
    pub(crate) workers: &'a Workers,
    pub(crate) store: &'a Store,
}

/// Bytes that are being hashed.
struct Digesting {
    held: Held,
    size_bytes: u64,
    hashing: Hashing,
    done: u64,
}

impl LateDigests<'_> {
    /// Makes all digests of a cached file, and keeps them. `None`: its bytes do not have the SHA-256 of `known`.
    pub(crate) async fn complete(
        self,
        known: &Hashes,
        held: &Held,
        event: &mut Event,
    ) -> Result<Option<Hashes>, store::Error> {
        let made = self.make(held, known.size_bytes, event).await?.filter(|made| made.sha256 == known.sha256);
        if let Some(made) = &made {
            self.store.keep_digests(vec![made.clone()], event).await?;
        }
        Ok(made)
    }

    /// All digests of some bytes. `None`: they cannot be read.
    pub(crate) async fn make(
        self,
        held: &Held,
        size_bytes: u64,
        event: &mut Event,
    ) -> Result<Option<Hashes>, store::Error> {
        let hashing = Hashing::new(MoreDigests::ALL);
        let mut digesting = Digesting { held: held.clone(), size_bytes, hashing, done: 0 };
        loop {
            let turn = match size_bytes {
                ..=SMALL => event.time(Op::DigestsMake, || digesting.turn()),
                _ => {
                    let turn = move |_: &mut ()| {
                        let turn = digesting.turn();
                        (digesting, turn)
                    };
                    let (back, turn) = self.workers.run(Lane::Index, Op::DigestsMake, event, turn).await?;
                    digesting = back;
                    turn
                }
            };
            match turn {
                Ok(()) if digesting.done < size_bytes => {}
                Ok(()) => return Ok(Some(digesting.hashing.finish())),
                Err(_) => return Ok(None),
            }
        }
    }
}

impl Content {
    /// The checksum file of this file, with the same freshness, from a digest that is made now if need be; `None` while the file
    /// still arrives, or if its bytes are damaged.
    pub(crate) async fn sum(
        &self,
        checksum: Checksum,
        late: LateDigests<'_>,
        event: &mut Event,
    ) -> Result<Option<Self>, store::Error> {
        let Some(hashes) = &self.hashes else { return Ok(None) };
        let sum = match (Self::checksum(hashes, checksum), self.source.held()) {
            (None, Some(held)) => {
                let made = late.complete(hashes, &held, event).await?;
                made.and_then(|made| Self::checksum(&made, checksum))
            }
            (sum, _) => sum,
        };
        Ok(sum.map(|Self { source, hashes, media, .. }| Self { source, hashes, media, ..self.clone() }))
    }
}

impl Digesting {
    /// Hashes the next bytes.
    fn turn(&mut self) -> io::Result<()> {
        match &self.held {
            Held::Bytes(bytes) => {
                self.hashing.update(bytes);
                self.done = self.size_bytes;
            }
            Held::File(file) => {
                let until = self.size_bytes.min(self.done + TURN);
                let mut piece = vec![0; PIECE];
                while self.done < until {
                    give_way();
                    let len = usize::try_from(until - self.done).unwrap_or(PIECE).min(PIECE);
                    file.read_exact_at(&mut piece[..len], self.done)?;
                    self.hashing.update(&piece[..len]);
                    self.done += len as u64;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::sync::Arc;

    #[test]
    fn a_file_is_hashed_in_turns_and_a_shorter_one_cannot_be() {
        let bytes: Vec<u8> = (0..TURN + 100_000).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let (held, size_bytes) = (Held::File(Arc::new(file)), bytes.len() as u64);
        let begun =
            |size_bytes| Digesting { held: held.clone(), size_bytes, hashing: Hashing::new(MoreDigests::ALL), done: 0 };
        let mut digesting = begun(size_bytes);
        digesting.turn().unwrap();
        assert_eq!(digesting.done, TURN);
        digesting.turn().unwrap();
        assert_eq!((digesting.done, digesting.hashing.finish()), (size_bytes, Hashes::of(&bytes)));
        let mut digesting = begun(size_bytes + 1);
        digesting.turn().unwrap();
        assert!(digesting.turn().is_err());
    }
}
