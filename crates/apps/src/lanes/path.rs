//! The path of a request, as its lane is chosen by it.
//!
//! A client can write one path in many ways, and applications read them differently. So a lane is chosen by the path as the most
//! generous application reads it: percent-encoded bytes count as the bytes, `%2F` as a slash, `..` leads up, empty segments and `.`
//! do not count, and neither do parameters (`;jsessionid=1`, RFC 3986 3.3). The application gets the path unchanged.

use std::borrow::Cow;

/// The segments of a path.
pub(super) fn segments(path: &str) -> Vec<Cow<'_, [u8]>> {
    let mut segments = Vec::new();
    for raw in path.split('/') {
        let raw = raw.split(';').next().unwrap_or_default();
        match decoded(raw.as_bytes()) {
            Cow::Borrowed(segment) => push(&mut segments, Cow::Borrowed(segment)),
            // It may have slashes now.
            Cow::Owned(bytes) => {
                for segment in bytes.split(|byte| *byte == b'/') {
                    push(&mut segments, Cow::Owned(segment.to_vec()));
                }
            }
        }
    }
    segments
}

fn push<'a>(segments: &mut Vec<Cow<'a, [u8]>>, segment: Cow<'a, [u8]>) {
    match &*segment {
        b"" | b"." => {}
        b".." => drop(segments.pop()),
        _ => segments.push(segment),
    }
}

/// With percent-encoded bytes decoded, once. All else stays.
pub(super) fn decoded(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'%') {
        return Cow::Borrowed(raw);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(raw.len()), raw);
    while let Some((byte, after)) = rest.split_first() {
        let encoded = match rest {
            [b'%', high, low, ..] => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match encoded {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    Cow::Owned(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_has_the_same_segments_however_it_is_written() {
        for (path, wanted) in [
            ("/", vec![]),
            ("", vec![]),
            ("*", vec!["*"]),
            ("/reports/1", vec!["reports", "1"]),
            ("//reports///1/", vec!["reports", "1"]),
            ("/./reports/./1", vec!["reports", "1"]),
            ("/%72eports%2f1", vec!["reports", "1"]),
            ("/reports;v=1/1;a;b", vec!["reports", "1"]),
            ("/reports/%2e%2e/x", vec!["x"]),
            ("/reports/.%2E/x", vec!["x"]),
            ("/reports%2F..%2Fx", vec!["x"]),
            ("/../../reports", vec!["reports"]),
            ("/a/b/../../..", vec![]),
            ("/100%/%zz/%4", vec!["100%", "%zz", "%4"]),
            // Encoded twice is another name: no server decodes twice.
            ("/%2572eports", vec!["%72eports"]),
        ] {
            let found: Vec<String> =
                segments(path).iter().map(|segment| String::from_utf8_lossy(segment).into()).collect();
            assert_eq!(found, wanted, "{path}");
        }
    }
}
