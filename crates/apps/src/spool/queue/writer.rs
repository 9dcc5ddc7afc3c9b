//! The writing end of a queue, for the task that receives a body.

use super::super::anonymous_file;
use super::super::room::Spool;
use super::{Broken, FILE, MEMORY, Queue, Segment};
use bytes::Bytes;
use http::HeaderMap;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};
use telemetry::{Reason, Tally, Tick};
use tokio::task::yield_now;

impl Queue {
    /// Whether anybody waits for the bytes.
    pub(crate) fn is_wanted(&self) -> bool {
        let state = self.0.borrow();
        state.has_reader || state.copy.is_some()
    }

    /// Ready when nobody waits for the bytes any more.
    pub(crate) fn poll_unwanted(&self, cx: &Context<'_>) -> Poll<()> {
        if !self.is_wanted() {
            return Poll::Ready(());
        }
        self.0.borrow_mut().writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// The first bytes, which are in memory.
    pub(crate) fn begin_with(&self, mut bytes: Bytes) {
        self.add_to_copy(&bytes);
        if !bytes.is_empty() {
            self.to_memory(&mut bytes);
        }
    }

    /// Adds bytes. Waits only for the disk, and for the reader while the spool is full.
    pub(crate) async fn push(&self, spool: &Spool, mut bytes: Bytes) -> Result<(), Broken> {
        self.add_to_copy(&bytes);
        let mut yielded = false;
        while !bytes.is_empty() {
            if !self.0.borrow().has_reader || self.to_memory(&mut bytes) {
                return Ok(());
            }
            if !std::mem::replace(&mut yielded, true) {
                // A quick client takes now what waits, and no file is needed.
                yield_now().await;
                continue;
            }
            let broken = |reason, detail| Broken { reason, detail };
            if spool.has_room(bytes.len() as u64) {
                // The client is slow, so they stay for a while.
                if !self.0.borrow().in_files() {
                    self.0.borrow_mut().compact();
                }
                let written = self.to_file(spool, &mut bytes).await;
                if written
                    .map_err(|error| broken(Reason::SpoolFull, format!("the spool cannot be written: {error}")))?
                {
                    continue;
                }
            }
            spool.bound().reject();
            if self.0.borrow().held_back {
                return Err(broken(Reason::SpoolFull, "the spool is full".to_owned()));
            }
            self.taken().await;
        }
        Ok(())
    }

    /// Puts the bytes into memory, if there is room and none wait in files.
    fn to_memory(&self, bytes: &mut Bytes) -> bool {
        let mut state = self.0.borrow_mut();
        let fits = state.memory_bytes == 0 || state.memory_bytes + bytes.len() <= MEMORY;
        if state.in_files() || !fits {
            return false;
        }
        state.memory_bytes += bytes.len();
        let bytes = std::mem::take(bytes);
        state.memory.push_back(bytes);
        state.wake(|state| &mut state.reader);
        true
    }

    /// Writes bytes into the last file, or into a new one. `false`: the spool is full.
    async fn to_file(&self, spool: &Spool, bytes: &mut Bytes) -> io::Result<bool> {
        let piece_len = bytes.len().min(anonymous_file::PIECE);
        let piece = bytes.slice(..piece_len);
        let mut held = spool.held();
        if held.more(piece_len as u64).is_err() {
            return Ok(false);
        }
        let (file, at) = match self.0.borrow().files.back() {
            Some(segment) if segment.written < FILE => (Some(segment.file.clone()), segment.written),
            _ => (None, 0),
        };
        let (is_new, began) = (file.is_none(), Tick::now());
        let file = anonymous_file::write(&spool.folder, file, piece, at).await?;
        let mut state = self.0.borrow_mut();
        state.writes =
            Tally { count: state.writes.count + 1, vain: 0, nanos: state.writes.nanos + Tick::now().since(began) };
        if !state.has_reader {
            bytes.clear();
            return Ok(true);
        }
        match state.files.back_mut().filter(|_| !is_new) {
            Some(segment) => {
                segment.written += piece_len as u64;
                segment.held.bytes += std::mem::take(&mut held.bytes);
            }
            None => state.files.push_back(Segment { file, read: 0, written: piece_len as u64, held }),
        }
        let _ = bytes.split_to(piece_len);
        state.wake(|state| &mut state.reader);
        Ok(true)
    }

    /// Waits until the reader has taken something, or has gone.
    async fn taken(&self) {
        let mut waited = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            self.0.borrow_mut().writer = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The body ended, or broke off.
    pub(crate) fn end(&self, end: Result<Option<HeaderMap>, Broken>) {
        let mut state = self.0.borrow_mut();
        if end.is_err() {
            state.copy = None;
        }
        state.body_nanos = Some(Tick::now().since(state.began));
        state.end = Some(end);
        state.wake(|state| &mut state.reader);
        state.wake(|state| &mut state.copier);
    }
}
