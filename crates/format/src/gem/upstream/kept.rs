//! The state of a known file that is needed to verify its continuation, or a change of its end: its length, its last
//! byte, the states of its digests, and its last lines.

use super::recent::{Recent, Start};
use crate::gem::package::hex;
use bytes::Bytes;
use sha2::Digest as _;
use sha2::digest::common::hazmat::{SerializableState, SerializedState};

/// The beginning of a file. Each byte is hashed once, even if the file grows often.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The digests of all bytes.
    end: Start,
    last: Option<u8>,
    recent: Recent,
}

impl Kept {
    /// Continues the file with these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.last = bytes.last().copied().or(self.last);
        self.recent.add(bytes, &mut self.end);
    }

    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        self.end.at
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its last byte.
    pub fn last(&self) -> Option<u8> {
        self.last
    }

    /// The range to request. Its first byte is the last known one: `bytes=41-` for 42 bytes. Bundler since 1.15 does
    /// the same, so that an unchanged file causes no 416.
    pub fn range(&self) -> Option<String> {
        Some(format!("bytes={}-", self.len().checked_sub(1)?))
    }

    /// The offset of the first known line, some 256 KiB before the end. Bytes from there on can be verified even if
    /// they changed. `None`: the file is so short that this is its beginning.
    pub fn overlap(&self) -> Option<u64> {
        Some(self.recent.start().at).filter(|at| *at > 0)
    }

    /// The lines from that offset on.
    pub fn overlapping(&self) -> impl Iterator<Item = Bytes> {
        self.recent.text()
    }

    /// The part of the file before these lines. It ends with a newline.
    pub(super) fn before_overlap(&self) -> Self {
        let start = self.recent.start().clone();
        let last = Some(b'\n').filter(|_| start.at > 0);
        Self { recent: self.recent.after(start.clone()), end: start, last }
    }

    /// An empty file that keeps as many of its last lines as this one.
    pub(super) fn emptied(&self) -> Self {
        Self { recent: self.recent.after(Start::default()), ..Self::default() }
    }

    /// The MD5 so far.
    pub fn md5(&self) -> [u8; 16] {
        self.end.md5.clone().finalize().into()
    }

    /// The MD5 so far, in hexadecimal.
    pub fn md5_hex(&self) -> String {
        hex(&self.md5())
    }

    /// The SHA-256 so far.
    pub fn sha256(&self) -> [u8; 32] {
        self.end.sha256.clone().finalize().into()
    }

    /// The whole state in a form to be stored. It is as long as the last lines.
    pub fn write(&self) -> Vec<Bytes> {
        let Start { at, md5, sha256 } = self.recent.start();
        let start = [&at.to_le_bytes()[..], &md5.serialize(), &sha256.serialize()].concat();
        std::iter::once(start.into()).chain(self.overlapping()).collect()
    }

    /// Reads a stored state; `None` if the bytes are not one.
    pub fn read(mut bytes: &[u8]) -> Option<Self> {
        let at = u64::from_le_bytes(*bytes.split_off(..8)?.as_array()?);
        let start = Start { at, md5: state(&mut bytes)?, sha256: state(&mut bytes)? };
        let last = Some(b'\n').filter(|_| at > 0);
        let mut kept = Self { recent: Recent::default().after(start.clone()), end: start, last };
        kept.add(bytes);
        Some(kept)
    }

    /// A file that keeps few of its last lines.
    #[cfg(test)]
    pub(super) fn with_overlap(stretch: usize, overlap: usize) -> Self {
        Self { recent: Recent::of(stretch, overlap), ..Self::default() }
    }
}

/// Reads the state of a digest at the beginning of these bytes, and shortens them.
fn state<D: SerializableState>(bytes: &mut &[u8]) -> Option<D> {
    let mut state = SerializedState::<D>::default();
    let len = state.len();
    state.copy_from_slice(bytes.split_off(..len)?);
    D::deserialize(&state).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_read_in_parts_has_the_digests_of_the_whole() {
        let (mut whole, mut parts) = (Kept::default(), Kept::default());
        assert_eq!((parts.range(), parts.last()), (None, None));
        whole.add(b"---\na 1 x\n");
        [&b"---"[..], b"", b"\na 1 x\n"].iter().for_each(|part| parts.add(part));
        assert_eq!((parts.md5(), parts.sha256(), parts.len()), (whole.md5(), whole.sha256(), 10));
        assert_eq!((parts.last(), parts.range().as_deref()), (Some(b'\n'), Some("bytes=9-")));
        assert_eq!(parts.md5_hex(), crate::gem::info::md5_hex(b"---\na 1 x\n"));
    }

    #[test]
    fn the_last_256_kib_are_kept_and_not_many_more() {
        let mut kept = Kept::default();
        let line = b"rack 3.0 0123456789abcdef0123456789abcdef\n";
        for _ in 0..(1 << 20) / line.len() {
            kept.add(line);
            let overlap = kept.len() - kept.overlap().unwrap_or_default();
            assert!(overlap == kept.len() || (256 << 10..330 << 10).contains(&overlap), "{overlap} of {}", kept.len());
        }
        assert!(kept.overlap().is_some());
    }

    proptest! {
        #[test]
        fn the_last_lines_begin_with_a_line_and_verify_whatever_comes_in_their_place_also_when_written_and_read(
            parts in proptest::collection::vec("[a\n]{0,40}", 0..20),
            instead in "[a\n]{0,80}",
        ) {
            let mut kept = Kept::with_overlap(8, 30);
            parts.iter().for_each(|part| kept.add(part.as_bytes()));
            let whole = parts.concat();
            let at = kept.overlap().map_or(0, |at| usize::try_from(at).unwrap());
            prop_assert!(kept.overlapping().collect::<Vec<_>>().concat() == whole.as_bytes()[at..]);
            prop_assert!(at == 0 || whole[..at].ends_with('\n') && whole.len() - at >= 30);
            let mut before = kept.before_overlap();
            prop_assert_eq!((before.len(), before.last()), (at as u64, whole[..at].bytes().last()));
            before.add(instead.as_bytes());
            prop_assert_eq!(before.md5_hex(), crate::gem::info::md5_hex((whole[..at].to_owned() + &instead).as_bytes()));
            let written = kept.write().concat();
            let read = Kept::read(&written).unwrap();
            prop_assert_eq!((read.md5(), read.sha256(), read.len()), (kept.md5(), kept.sha256(), kept.len()));
            prop_assert_eq!((read.last(), read.overlap()), (kept.last(), kept.overlap()));
            prop_assert_eq!(read.write().concat(), written.clone());
            prop_assert!(Kept::read(&written[..8 + 16]).is_none());
        }
    }
}
