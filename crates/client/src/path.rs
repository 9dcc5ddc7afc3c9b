//! Escapes paths for URLs.

use std::fmt::Write;

/// `path` with everything escaped except slashes, colons and unreserved characters (RFC 3986 2.3). A URL may hold more
/// characters, but some servers read a `;` as the beginning of parameters, and some file stores a `+` as a space.
/// Every server reads an escape as its character. Colons are sent as pacman and apt send them. The query, after the
/// first `?`, is sent unchanged.
pub fn escaped(path: &str) -> String {
    let (path, query) = path.find('?').map_or((path, ""), |at| path.split_at(at));
    let mut out = String::with_capacity(path.len() + query.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => out.push(byte.into()),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out + query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_path_cannot_hold_is_escaped() {
        assert_eq!(escaped("org/a-b/1.0+b1/a b.tar.gz"), "org/a-b/1.0%2Bb1/a%20b.tar.gz");
        assert_eq!(escaped("é#%~"), "%C3%A9%23%25~");
        assert_eq!(escaped("a;b=c/..;/!$&'()*,:@"), "a%3Bb%3Dc/..%3B/%21%24%26%27%28%29%2A%2C:%40");
        assert_eq!(escaped("core:/a b?platform=linux&x=%20/+"), "core:/a%20b?platform=linux&x=%20/+");
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_path_holds_it_is_that_path_of_the_url(path in "\\PC{1,40}") {
            let path = path.replace('?', "");
            let uri: http::Uri = format!("http://a.test/{}", escaped(&path)).parse().unwrap();
            assert!(uri.query().is_none());
            let mut bytes = uri.path().bytes().skip(1);
            let mut decoded = Vec::new();
            while let Some(byte) = bytes.next() {
                let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16)).unwrap();
                decoded.push(if byte == b'%' { (digit() * 16 + digit()) as u8 } else { byte });
            }
            assert_eq!(decoded, path.as_bytes());
        }
    }
}
