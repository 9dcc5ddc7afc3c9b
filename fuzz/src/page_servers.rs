//! The replies of servers that keep pages.

use bytes::BufMut;
use client::{PageProtocol, PageReplies, PageReply, PageWant};

const WANT: PageWant = PageWant { limit_bytes: 4096, known: Some(77) };

/// Replies of memcached. The first byte selects the pieces, and whether the commands are meta commands.
pub(crate) fn memcached(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    replies(|| PageReplies::new(PageProtocol::Memcached, first & 1 == 0), usize::from(first / 2) + 1, bytes);
}

/// Replies of Redis. The first byte selects the pieces.
pub(crate) fn redis(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    replies(|| PageReplies::new(PageProtocol::Redis { database: 0 }, false), usize::from(*first) + 1, bytes);
}

/// Replies do not depend on how the bytes are cut, their values are parts of the bytes, and no value is longer than the limit.
fn replies(new: impl Fn() -> PageReplies, piece: usize, bytes: &[u8]) {
    let whole = read(new(), bytes.len().max(1), bytes);
    assert_eq!(read(new(), piece, bytes), whole);
    let mut values = 0;
    for reply in whole.iter().flatten() {
        match reply {
            PageReply::Item { value, version, .. } => {
                assert!(value.len() <= WANT.limit_bytes && (version.is_none() || *version != WANT.known));
                values += value.len();
            }
            PageReply::Refused { why, .. } => assert!(!why.contains(char::is_control) && why.len() <= 600),
            _ => {}
        }
    }
    assert!(values <= bytes.len());
}

/// The replies, and last the error, if there is one.
fn read(mut replies: PageReplies, piece: usize, bytes: &[u8]) -> Vec<Result<PageReply, &'static str>> {
    let mut read = Vec::new();
    for mut piece in bytes.chunks(piece) {
        while !piece.is_empty() {
            let mut room = replies.room();
            let taken = room.remaining_mut().min(piece.len());
            assert!(taken > 0, "there is room");
            room.put_slice(&piece[..taken]);
            piece = &piece[taken..];
            loop {
                match replies.next(WANT) {
                    Ok(Some(reply)) => read.push(Ok(reply)),
                    Ok(None) => break,
                    Err(why) => {
                        read.push(Err(why));
                        return read;
                    }
                }
            }
        }
    }
    read
}
