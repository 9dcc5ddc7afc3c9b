//! A part of a file that the kernel sends to a socket without copying it through this process: sendfile(2).
//!
//! hyper writes only memory that it can point at. So it is shown a stand-in for the file: slices of one buffer that
//! is never read or written. The socket recognizes such a slice by its address, and sends that many bytes of the file
//! instead. hyper then advances the part by what was sent. The socket never hands a slice of the stand-in to the
//! kernel, so its bytes cannot reach a client.

use crate::body::delivery::{Delivery, Progress};
use crate::body::file_threads::FileThreads;
use crate::body::kernel_cache::{in_memory, read_ahead};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use telemetry::{Op, Tick};
use tokio::task::JoinHandle;

/// Bytes that a connection may send before the other connections of its core run. The same number is probed in memory
/// at once.
pub(crate) const TURN: usize = 1 << 20;
/// How long after a pause of the client the bytes are still assumed to be in memory, in nanoseconds. Most clients
/// continue within milliseconds, and probing again each time costs more than sending.
const KEPT: u64 = 1_000_000_000;

/// Its memory is never touched, so it takes address space only.
static STAND_IN: LazyLock<Box<[u8]>> = LazyLock::new(|| vec![0; TURN].into_boxed_slice());

/// Whether this slice stands for a part of a file.
pub(crate) fn stands_in(slice: &[u8]) -> bool {
    STAND_IN.as_ptr_range().contains(&slice.as_ptr())
}

/// The part of the file that has not been sent yet.
pub(crate) struct FilePart {
    file: Arc<File>,
    at: Cell<u64>,
    left: Cell<u64>,
    /// Up to here the kernel has the file in memory, as far as is known.
    known: Cell<u64>,
    /// Since when the socket takes no more bytes.
    paused: Cell<Option<Tick>>,
    /// A read that brings the next bytes into memory.
    reading: RefCell<Option<JoinHandle<io::Result<u64>>>>,
    delivery: Rc<Delivery>,
    threads: Arc<FileThreads>,
}

impl FilePart {
    pub(crate) fn new(
        file: Arc<File>,
        from: u64,
        len: u64,
        delivery: Rc<Delivery>,
        threads: Arc<FileThreads>,
    ) -> Rc<Self> {
        let (at, left) = (Cell::new(from), Cell::new(len));
        let (known, paused, reading) = Default::default();
        Rc::new(Self { file, at, left, known, paused, reading, delivery, threads })
    }

    /// A whole file that the kernel is known to hold in memory.
    pub(crate) fn in_memory(file: Arc<File>, len: u64, delivery: Rc<Delivery>, threads: Arc<FileThreads>) -> Rc<Self> {
        let part = Self::new(file, 0, len, delivery, threads);
        part.known.set(len);
        part
    }

    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// The slice that hyper is shown.
    pub(crate) fn stand_in(&self) -> &'static [u8] {
        &STAND_IN[..self.turn_of(TURN)]
    }

    fn turn_of(&self, len: usize) -> usize {
        usize::try_from(self.left.get()).map_or(len, |left| left.min(len))
    }

    /// Advances by what was sent.
    pub(crate) fn advance(&self, len: usize) {
        self.at.set(self.at.get() + len as u64);
        self.left.set(self.left.get() - len as u64);
    }

    /// Sends up to `len` bytes into `socket`, which may take fewer.
    pub(crate) fn send(&self, socket: impl rustix::fd::AsFd, len: usize) -> io::Result<usize> {
        let mut at = self.at.get();
        match rustix::fs::sendfile(socket, &self.file, Some(&mut at), self.turn_of(len)) {
            Ok(0) => {
                self.delivery.progress.set(Progress::Broken);
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Err(rustix::io::Errno::IO) => {
                self.delivery.progress.set(Progress::Broken);
                Err(rustix::io::Errno::IO.into())
            }
            done => Ok(done?),
        }
    }

    /// The socket takes no more bytes for now.
    pub(crate) fn pause(&self) {
        self.paused.set(Some(Tick::now()));
    }

    /// Waits until the next bytes are in memory, so that sending them never blocks the core on a disk.
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.paused.take().is_some_and(|since| Tick::now().since(since) > KEPT) {
            // The kernel may have evicted the bytes.
            self.known.set(0);
        }
        // As many bytes as are sent at once.
        let end = self.at.get() + self.turn_of(TURN) as u64;
        if self.known.get() >= end {
            return Poll::Ready(Ok(()));
        }
        let at = self.at.get().max(self.known.get());
        // A read from disk also reads the bytes of the next turn.
        let ahead = self.at.get() + self.turn_of(2 * TURN) as u64;
        let mut reading = self.reading.borrow_mut();
        if reading.is_none() && !in_memory(&self.file, at, end) {
            *reading = Some(self.read(at, ahead));
        }
        if let Some(read) = reading.as_mut() {
            let done =
                ready!(self.delivery.polled(Op::BodyRead, Pin::new(read).poll(cx))).map_err(io::Error::other).flatten();
            *reading = None;
            match done {
                Ok(nanos) => self.delivery.read(nanos),
                Err(error) => {
                    self.delivery.progress.set(Progress::Broken);
                    return Poll::Ready(Err(error));
                }
            }
            self.known.set(ahead);
            return Poll::Ready(Ok(()));
        }
        self.known.set(end);
        Poll::Ready(Ok(()))
    }

    fn read(&self, at: u64, end: u64) -> JoinHandle<io::Result<u64>> {
        let (file, threads, asked) = (self.file.clone(), self.threads.clone(), Tick::now());
        tokio::task::spawn_blocking(move || {
            let began = Tick::now();
            let _thread = threads.begin(asked, began);
            read_ahead(&file, at, end)?;
            Ok(Tick::now().since(began))
        })
    }
}
