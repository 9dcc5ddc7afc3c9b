//! Tests of the queue between a backend and a client.

use super::super::room::Spool;
use super::*;
use crate::options::AppOptions;
use front::{Piece, StreamSource};
use std::future::poll_fn;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use telemetry::{Clock, Recorder};
use tokio::task::{LocalSet, spawn_local};

struct Test {
    spool: Spool,
    queue: Queue,
    folder: tempfile::TempDir,
}

impl Test {
    fn new(spool_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = AppOptions { spool_bytes, spool_folder: folder.path().to_owned(), ..AppOptions::of("a") };
        Self {
            spool: Spool::new(&options, &Recorder::silent(Clock::default())),
            queue: Queue::since(Tick::now()),
            folder,
        }
    }

    /// Pushes the bytes in pieces and ends the queue, as a task does.
    fn write(&self, bytes: &[u8], piece: usize) -> tokio::task::JoinHandle<()> {
        let (queue, spool) = (self.queue.clone(), self.spool.clone());
        let pieces: Vec<Bytes> = bytes.chunks(piece).map(Bytes::copy_from_slice).collect();
        spawn_local(async move {
            for piece in pieces {
                if let Err(broken) = queue.push(&spool, piece).await {
                    return queue.end(Err(broken));
                }
            }
            queue.end(Ok(None));
        })
    }

    fn used(&self) -> u64 {
        self.spool.bound().used()
    }
}

/// All bytes of a piece.
fn bytes_of(piece: Piece) -> Vec<u8> {
    match piece {
        Piece::Bytes(bytes) => bytes.to_vec(),
        Piece::File { file, from, len } => {
            let mut bytes = vec![0; len as usize];
            file.read_exact_at(&mut bytes, from).unwrap();
            bytes
        }
        Piece::Trailers(_) => Vec::new(),
    }
}

async fn next(reader: &mut QueueReader) -> Option<io::Result<Piece>> {
    poll_fn(|cx| reader.poll_piece(cx)).await
}

async fn all(reader: &mut QueueReader) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(piece) = next(reader).await {
        bytes.extend(bytes_of(piece?));
    }
    Ok(bytes)
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(test));
}

fn noise(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn bytes_come_in_their_order_whatever_part_of_them_waits_in_files() {
    run(async {
        let bytes = noise(5_000_003);
        for (piece, eager) in [(1000, true), (1000, false), (70_001, true), (64 << 10, false)] {
            let test = Test::new(1 << 30);
            let mut reader = test.queue.reader();
            let writing = test.write(&bytes, piece);
            if !eager {
                writing.await.unwrap();
                assert!(test.used() > 4_000_000 && test.folder.path().read_dir().unwrap().next().is_none());
            }
            assert!(all(&mut reader).await.unwrap() == bytes, "{piece} {eager}");
            drop(reader);
            assert_eq!(test.used(), 0);
        }
    });
}

#[test]
fn a_reader_that_keeps_up_needs_no_file_and_files_that_were_read_are_closed() {
    run(async {
        let test = Test::new(1 << 30);
        let bytes = noise(4 << 20);
        let mut reader = test.queue.reader();
        let writing = test.write(&bytes, 10_000);
        assert!(all(&mut reader).await.unwrap() == bytes);
        writing.await.unwrap();
        let writes = test.queue.0.borrow().writes.count;
        assert_eq!(writes, 0);
        let test = Test::new(1 << 30);
        let mut reader = test.queue.reader();
        test.write(&bytes, 10_000).await.unwrap();
        let before = test.used();
        let mut read = 0;
        while read < 3 << 20 {
            read += bytes_of(next(&mut reader).await.unwrap().unwrap()).len();
        }
        assert!(test.used() <= before - (2 << 20), "{before} {}", test.used());
    });
}

#[test]
fn a_full_spool_makes_the_writer_wait_and_a_late_reader_break() {
    run(async {
        let bytes = noise(1_000_000);
        let test = Test::new(100_000);
        let mut reader = test.queue.reader();
        let writing = test.write(&bytes, 10_000);
        assert!(all(&mut reader).await.unwrap() == bytes);
        writing.await.unwrap();
        assert!(test.spool.bound().highest() <= 100_000);
        let test = Test::new(100_000);
        let mut reader = test.queue.late_reader();
        test.write(&bytes, 10_000).await.unwrap();
        assert_eq!(test.queue.whole().await.unwrap_err().reason, Reason::SpoolFull);
        assert!(all(&mut reader).await.is_err());
    });
}

#[test]
fn a_copy_is_whole_or_none() {
    run(async {
        let bytes = noise(300_000);
        for (limit, breaks, gone, copied) in [
            (300_000, false, false, true),
            (299_999, false, false, false),
            (300_000, true, false, false),
            (300_000, false, true, true),
        ] {
            let test = Test::new(1 << 30);
            let copy = test.queue.copy(limit);
            let mut reader = test.queue.reader();
            if breaks {
                test.queue.push(&test.spool, bytes.clone().into()).await.unwrap();
                test.queue.end(Err(Broken { reason: Reason::AppCut, detail: String::new() }));
            } else {
                test.write(&bytes, 10_000).await.unwrap();
            }
            if gone {
                drop(reader);
                assert!(test.queue.is_wanted());
            } else {
                assert_eq!(all(&mut reader).await.ok().is_some_and(|all| all == bytes), !breaks);
            }
            assert_eq!(copy.await.is_some_and(|copy| copy == bytes), copied, "{limit} {breaks} {gone}");
        }
    });
}

#[test]
fn a_copy_has_the_bytes_that_wait_when_it_begins_unless_some_are_in_files() {
    run(async {
        for (len, copied) in [(30_000, true), (300_000, false)] {
            let (test, bytes) = (Test::new(1 << 30), noise(len));
            let mut reader = test.queue.late_reader();
            test.write(&bytes, 10_000).await.unwrap();
            assert_eq!(test.queue.copy(len).await.is_some_and(|copy| copy == bytes), copied, "{len}");
            assert_eq!(all(&mut reader).await.unwrap(), bytes);
        }
    });
}

#[test]
fn nobody_wants_a_body_whose_reader_and_copy_are_gone() {
    let queue = Queue::since(Tick::now());
    let (reader, copy) = (queue.reader(), queue.copy(10));
    drop(reader);
    assert!(queue.is_wanted());
    drop(copy);
    assert!(!queue.is_wanted());
}
