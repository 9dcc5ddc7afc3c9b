//! The messages of a client, one on each line, none longer than a limit.

use std::io::{self, BufRead};

/// The largest message, in bytes. A question has at most 16 KiB.
const LINE_MAX: usize = 256 << 10;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Text(Vec<u8>),
    /// A longer one, of which nothing was kept.
    TooLong,
    /// The client has closed the input. A last line without an end is none: its rest may be missing.
    End,
}

/// Reads the next line that is not empty.
pub(super) fn next(input: &mut impl BufRead) -> io::Result<Line> {
    loop {
        let line = one(input)?;
        if !matches!(&line, Line::Text(text) if text.iter().all(u8::is_ascii_whitespace)) {
            return Ok(line);
        }
    }
}

fn one(input: &mut impl BufRead) -> io::Result<Line> {
    let (mut text, mut is_long) = (Vec::new(), false);
    loop {
        let piece = match input.fill_buf() {
            Ok([]) => return Ok(Line::End),
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = piece.iter().position(|byte| *byte == b'\n');
        let part = &piece[..end.unwrap_or(piece.len())];
        is_long |= text.len() + part.len() > LINE_MAX;
        if is_long {
            text = Vec::new();
        } else {
            text.extend_from_slice(part);
        }
        let read = end.map_or(piece.len(), |end| end + 1);
        input.consume(read);
        if end.is_some() {
            return Ok(if is_long { Line::TooLong } else { Line::Text(text) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufReader;

    fn all(bytes: &[u8], buffer: usize) -> Vec<Line> {
        let mut input = BufReader::with_capacity(buffer, bytes);
        let mut lines = Vec::new();
        loop {
            match next(&mut input).unwrap() {
                Line::End => return lines,
                line => lines.push(line),
            }
        }
    }

    #[test]
    fn a_line_up_to_the_limit_is_read_and_a_longer_one_is_dropped_alone() {
        let (most, more) = (vec![b'a'; LINE_MAX], vec![b'a'; LINE_MAX + 1]);
        let bytes = [&most[..], b"\n", &more, b"\nnext\r\n\n  \nlast without an end"].concat();
        let lines = all(&bytes, 8192);
        assert!(lines == [Line::Text(most), Line::TooLong, Line::Text(b"next\r".to_vec())]);
    }

    proptest! {
        #[test]
        fn lines_are_the_same_whatever_pieces_they_come_in(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300), buffer in 1_usize..40) {
            let mut whole: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            whole.pop();
            let lines: Vec<Line> =
                whole.into_iter().filter(|line| !line.iter().all(u8::is_ascii_whitespace)).map(|line| Line::Text(line.to_vec())).collect();
            prop_assert_eq!(all(&bytes, buffer), lines);
        }
    }
}
