//! The texts of keys before they are hashed.

/// The data of a key as Ruby inspects them: a hash in a hash; `arrow` stands between a name and its value.
pub(super) fn inspected(path: &[u8], query: &[u8], arrow: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + query.len() + 64);
    out.extend_from_slice(b"{\"env\"");
    out.extend_from_slice(arrow.as_bytes());
    out.extend_from_slice(b"{\"PATH_INFO\"");
    out.extend_from_slice(arrow.as_bytes());
    inspect(path, &mut out);
    out.extend_from_slice(b", \"QUERY_STRING\"");
    out.extend_from_slice(arrow.as_bytes());
    inspect(query, &mut out);
    out.extend_from_slice(b"}}");
    out
}

/// Appends bytes as Ruby's `String#inspect` writes those of a binary string, which Rack servers make of a request: in quotes, with
/// escapes for quotes, backslashes, the start of an interpolation and everything but printable ASCII.
fn inspect(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push(b'"');
    for (at, byte) in bytes.iter().enumerate() {
        let escaped = match byte {
            b'"' | b'\\' => *byte,
            b'#' if matches!(bytes.get(at + 1), Some(b'{' | b'$' | b'@')) => b'#',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x0c => b'f',
            0x0b => b'v',
            0x08 => b'b',
            0x07 => b'a',
            0x1b => b'e',
            0x20..=0x7e => {
                out.push(*byte);
                continue;
            }
            _ => {
                out.extend_from_slice(&[b'\\', b'x', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', escaped]);
    }
    out.push(b'"');
}

/// The text of schema 2: every value with its type and its length in bytes, or its number of pairs; an empty hash is the version.
pub(super) fn typed(path: &[u8], query: &[u8], is_versioned: bool, coding: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + query.len() + 160);
    out.extend_from_slice(if is_versioned { b"h4:" } else { b"h3:" });
    item(b'y', b"key", &mut out);
    out.extend_from_slice(b"h1:");
    item(b's', b"request", &mut out);
    out.extend_from_slice(b"h1:");
    item(b's', b"env", &mut out);
    out.extend_from_slice(b"h2:");
    item(b's', b"PATH_INFO", &mut out);
    item(b's', path, &mut out);
    item(b's', b"QUERY_STRING", &mut out);
    item(b's', query, &mut out);
    if is_versioned {
        item(b'y', b"version", &mut out);
        out.extend_from_slice(b"h0:");
    }
    item(b'y', b"key_schema_version", &mut out);
    item(b'i', b"2", &mut out);
    item(b'y', b"encoding", &mut out);
    item(b's', coding.as_bytes(), &mut out);
    out
}

/// Appends a string (`s`), symbol (`y`) or integer (`i`).
fn item(kind: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(text.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(text);
}
