//! Gathers what arrives of a body into pieces, because each piece costs a switch of threads and wakes its readers.

use crate::upstream::failure::Failure;
use crate::upstream::piece_buffers::{PIECE, PieceBuffers};
use crate::upstream::trouble::Trouble;
use bytes::{Bytes, BytesMut};
use client::Arriving;
use std::task::Poll;
use std::time::Duration;
use telemetry::{Event, Reason, Slot, Tick};

/// The number of bytes of a small piece. It is also the most that a small body has.
const SMALL: usize = 64 << 10;
/// How long the first bytes of a piece wait for others, because clients want to read them.
const TOGETHER: Duration = Duration::from_millis(10);

/// A body that is arriving.
pub(crate) struct Pieces<'a> {
    answer: &'a mut Arriving,
    /// The most bytes that it may have.
    longest: u64,
    came: u64,
    is_over: bool,
    buffers: &'a PieceBuffers,
    /// `None`: its pieces are small.
    place: Option<Slot>,
}

impl<'a> Pieces<'a> {
    /// The body of `answer`, with `longest` bytes at most.
    pub(crate) fn new(answer: &'a mut Arriving, longest: u64, buffers: &'a PieceBuffers) -> Self {
        let is_small = answer.length().is_some_and(|length| length <= SMALL as u64);
        let place = if is_small { None } else { buffers.place() };
        Self { answer, longest, came: 0, is_over: false, buffers, place }
    }

    /// Its announced length.
    pub(crate) fn length(&self) -> Option<u64> {
        self.answer.length()
    }

    /// The number of bytes so far.
    pub(crate) fn came(&self) -> u64 {
        self.came
    }

    /// Whether all bytes have arrived.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Refuses an announced length of more bytes than the file can have.
    pub(crate) fn check_length(&self) -> Result<(), Failure> {
        refuse_above(self.longest, self.length().unwrap_or(0))
    }

    /// Appends the next bytes to `piece`: some, or none at the end of the body.
    pub(crate) async fn gather(&mut self, piece: &mut BytesMut, event: &mut Event) -> Result<(), Trouble> {
        if piece.capacity() == 0 {
            *piece = self.buffer();
        }
        // A piece that is full already gets the next bytes too, so that each call gets on with the body.
        let most = if self.place.is_some() { PIECE } else { SMALL }.max(piece.len() + 1);
        let mut began = None;
        while piece.len() < most && !self.is_over {
            let left = |began| TOGETHER.saturating_sub(Duration::from_nanos(Tick::now().since(began)));
            match self.answer.next_within(began.map_or(Duration::MAX, left), event).await {
                Poll::Ready(Some(chunk)) => {
                    let chunk = chunk?;
                    self.came += chunk.len() as u64;
                    refuse_above(self.longest, self.came)?;
                    piece.extend_from_slice(&chunk);
                    began.get_or_insert_with(Tick::now);
                }
                Poll::Ready(None) => self.is_over = true,
                Poll::Pending => break,
            }
        }
        Ok(())
    }

    /// The bytes of a piece that stays in memory, which then takes no more than they are.
    pub(crate) fn keep(&self, piece: BytesMut) -> Bytes {
        if piece.capacity() == piece.len() {
            return piece.freeze();
        }
        let bytes = Bytes::copy_from_slice(&piece);
        self.give_back(piece);
        bytes
    }

    /// Takes back a buffer that is not needed any more.
    pub(crate) fn give_back(&self, buffer: BytesMut) {
        if self.place.is_some() {
            self.buffers.give_back(buffer);
        }
    }

    fn buffer(&self) -> BytesMut {
        match (&self.place, self.length()) {
            (Some(_), _) => self.buffers.take(),
            (None, Some(length)) if length <= SMALL as u64 => BytesMut::with_capacity(length as usize),
            (None, _) => BytesMut::with_capacity(SMALL),
        }
    }
}

/// Refuses a body of more bytes than its file can have.
fn refuse_above(longest: u64, size_bytes: u64) -> Result<(), Failure> {
    if size_bytes <= longest {
        return Ok(());
    }
    Err(Failure::new(Reason::UpstreamInvalid, format!("the upstream's file is larger than {longest} bytes")))
}
