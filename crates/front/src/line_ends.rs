//! Line ends of a head. RFC 9112 (2.2) lets a server take a lone LF for the end of a line, and hyper does; whoever stands in
//! front of us may not, and reads one long line where we read two: a smuggled header. So a lone LF in a head becomes a
//! NUL, which hyper refuses.

use std::ops::Range;

/// What a head ends with.
const END: &[u8] = b"\r\n\r\n";

/// What a read may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// A head from its first byte, and perhaps a body and more heads.
    NewHead,
    /// A head, of which there may have been something before.
    Head,
    /// A body, and perhaps a head behind it.
    Body,
}

/// What is remembered between two reads.
#[derive(Debug)]
pub(crate) struct LineEnds {
    /// The last byte was a CR.
    after_cr: bool,
    /// The last bytes were the end of a head, or there were none.
    after_head: bool,
}

impl Default for LineEnds {
    fn default() -> Self {
        Self { after_cr: false, after_head: true }
    }
}

impl LineEnds {
    /// Spoils the lone LFs in what was read. A body and what follows it in the same read are left as they are, unless the body's
    /// head is there too and tells where it ends.
    pub(crate) fn check(&mut self, bytes: &mut [u8], within: Within) {
        let (Some(first), Some(last)) = (bytes.first().copied(), bytes.last().copied()) else { return };
        let begins = first == b'\n' && !self.after_cr;
        let whole = within == Within::NewHead || self.after_head;
        self.after_cr = last == b'\r';
        self.after_head = within != Within::Body && bytes.ends_with(END);
        if within != Within::Body && (begins || lone(bytes)) {
            spoil(bytes, begins, whole);
        }
    }
}

/// Whether there is an LF behind something else than a CR. Looks at every pair, which the compiler does sixteen at a time; nearly
/// always this is all that is done.
fn lone(bytes: &[u8]) -> bool {
    bytes.iter().zip(&bytes[1..]).fold(false, |found, (before, at)| found | ((*at == b'\n') & (*before != b'\r')))
}

/// There is one: whether it is in a head, or in a body that came with it. `whole`: the first head begins here.
#[cold]
fn spoil(bytes: &mut [u8], begins: bool, mut whole: bool) {
    if begins {
        bytes[0] = 0;
    }
    let mut at = 0;
    while let Some(head) = head(bytes, at) {
        for lf in head.clone() {
            if lf > 0 && bytes[lf] == b'\n' && bytes[lf - 1] != b'\r' {
                bytes[lf] = 0;
            }
        }
        match body(&bytes[head.clone()]) {
            Some(len) if whole => at = head.end.saturating_add(len),
            _ => return,
        }
        whole = true;
    }
}

/// The head that begins at `at`, up to its empty line or to the end of what there is.
fn head(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let end = rest.windows(END.len()).position(|bytes| bytes == END).map_or(rest.len(), |end| end + END.len());
    Some(at..at + end)
}

/// How long the body of this head is; `None`: its end cannot be told from here.
fn body(head: &[u8]) -> Option<usize> {
    let mut length = 0;
    for line in head.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = line[..colon].trim_ascii();
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            length = std::str::from_utf8(line[colon + 1..].trim_ascii()).ok()?.parse().ok()?;
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What hyper is given of what comes in these reads.
    fn given(reads: &[&str]) -> String {
        let mut ends = LineEnds::default();
        let mut all = Vec::new();
        for (number, read) in reads.iter().enumerate() {
            let mut bytes = read.as_bytes().to_vec();
            ends.check(&mut bytes, if number == 0 { Within::NewHead } else { Within::Head });
            all.extend(bytes);
        }
        String::from_utf8(all).unwrap()
    }

    #[test]
    fn a_lone_lf_in_a_head_is_spoiled_wherever_it_stands() {
        for (sent, spoiled) in [
            ("GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\0Host: a\r\n\r\n"),
            ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
            ("GET / HTTP/1.1\r\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\0\0"),
            ("A\r\n\r\nB\nC\r\n\r\n", "A\r\n\r\nB\0C\r\n\r\n"),
            ("A\r\nContent-Length: 2\r\n\r\n\n\nB\nC", "A\r\nContent-Length: 2\r\n\r\n\n\nB\0C"),
        ] {
            assert_eq!(given(&[sent]), spoiled);
            let whole: Vec<String> = sent.chars().map(String::from).collect();
            let bytes: Vec<&str> = whole.iter().map(String::as_str).collect();
            if !sent.contains("Length") {
                assert_eq!(given(&bytes), spoiled, "byte by byte");
            }
        }
    }

    #[test]
    fn what_a_body_holds_stays_as_it_is() {
        for sent in [
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na\nb\nc",
            "POST / HTTP/1.1\r\ncontent-length:5\r\n\r\na\nb",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\n",
        ] {
            assert_eq!(given(&[sent]), sent);
        }
        let parts = ["POST / HTTP/1.1\r\nContent-Length: 5\r\n", "X: y\r\n\r\na\nb\nc"];
        assert_eq!(given(&parts), parts.concat(), "its length came before");
        let mut body = *b"\n\n";
        LineEnds::default().check(&mut body, Within::Body);
        assert_eq!(&body, b"\n\n");
    }

    proptest! {
        #[test]
        fn only_lone_lfs_change_and_none_stays_in_a_head(sent in "[a\r\n:]{0,40}", cut in 0_usize..40) {
            // Behind the end of a head that began in an earlier read may be a body.
            prop_assume!(!sent.contains("\r\n\r\n"));
            let cut = cut.min(sent.len());
            let given = given(&[&sent[..cut], &sent[cut..]]);
            let expected: String = sent.char_indices()
                .map(|(at, char)| if char == '\n' && !sent[..at].ends_with('\r') { '\0' } else { char })
                .collect();
            prop_assert_eq!(given, expected);
        }
    }
}
