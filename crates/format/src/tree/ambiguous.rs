//! Paths that some servers read as other paths, although these characters are sent escaped.
//!
//! Some servers, or proxies in front of them, decode a path twice (`%252e` becomes `.`), drop the characters after a
//! `;` (path parameters, RFC 3986 3.3: Tomcat and Jetty serve `/a;x/b` as `/a/b`), or build a new URL from the decoded
//! path, which then ends at a `#` (nginx, `proxy_pass` with `$uri`). On NTFS `a::$DATA` is the content of `a`.

/// Whether some server may read `path` as the path of another file.
pub fn is_ambiguous(path: &str) -> bool {
    // The code has no branches, because nearly every path has none of these characters.
    let odd = path.bytes().fold(false, |found, byte| found | matches!(byte, b'%' | b';' | b'#' | b'$'));
    odd && (path.contains(['%', ';', '#']) || path.contains(":$"))
}

/// Whether some server may read `path` as one that leaves its folder or has other folders: `a/..;/b`, `a/%2e./b`,
/// `a%2Fb`.
pub fn may_leave_its_folder(path: &str) -> bool {
    if !is_ambiguous(path) {
        return false;
    }
    let folders = path.bytes().filter(|byte| *byte == b'/').count();
    let mut path = path.as_bytes().to_vec();
    loop {
        let odd = path.iter().any(|byte| byte.is_ascii_control() || *byte == b'\\');
        if odd || path.iter().filter(|byte| **byte == b'/').count() != folders || path.split(is_slash).any(is_dots) {
            return true;
        }
        // The path becomes shorter each time, so the loop ends.
        match decoded(&path) {
            Some(shorter) => path = shorter,
            None => return false,
        }
    }
}

fn is_slash(byte: &u8) -> bool {
    *byte == b'/'
}

/// Whether a name is `.` or `..` to a server that drops its parameters, or to a file system that drops trailing spaces.
fn is_dots(name: &[u8]) -> bool {
    let end = name.iter().position(|byte| matches!(byte, b';' | b'#' | b'?')).unwrap_or(name.len());
    matches!(name[..end].trim_ascii_end(), b"." | b"..")
}

/// The path with its escapes decoded; `None`: there are none. Invalid escapes stay unchanged.
fn decoded(path: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| path.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(byte) = path.get(at) {
        let escaped = if *byte == b'%' { digit(at + 1).zip(digit(at + 2)) } else { None };
        match escaped.and_then(|(high, low)| u8::try_from(16 * high + low).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    (out.len() < path.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_that_decodes_again_or_cuts_would_be_led_elsewhere_by_is_found() {
        for path in [
            "a/..;/b",
            "a/.;x=y/b",
            "a/%2e%2E/b",
            "a/%252e./b",
            "a/..%23/b",
            "a/..#x",
            "a%2Fb",
            "a%252fb",
            "a%5cb",
            "a%00",
        ] {
            assert!(may_leave_its_folder(path), "{path}");
        }
        assert!(may_leave_its_folder("..%20;x/b"));
        for path in [
            "lamp.zip::$DATA",
            "a:$I30:$INDEX_ALLOCATION",
            "a;b/c",
            "100%/b",
            "a/%zz",
            "a%2eb/c#",
            "a/...;/b",
            "%2561",
            "..a;/b",
        ] {
            assert!(!may_leave_its_folder(path) && is_ambiguous(path), "{path}");
        }
        assert!(!is_ambiguous("org/example/lamp/1.0+b/lamp-1.0+b~x@y,z=1.jar"));
        assert!(!is_ambiguous("org/lamp/Lamp$Wick-1:2.class"));
    }
}
