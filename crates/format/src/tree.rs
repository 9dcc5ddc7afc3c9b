//! Paths of repositories that are trees of files: which paths are allowed, and what their endings mean. Only this code
//! refuses names that a file system, a shell or another client would read differently.

mod ambiguous;
mod checksum;
mod media;
mod parameters;

pub use ambiguous::{is_ambiguous, may_leave_its_folder};
pub use checksum::{Checksum, LONGEST as LONGEST_CHECKSUM, checksum_of};
pub use media::media;
pub use parameters::without_parameters;

/// The longest path, in bytes.
pub const LONGEST: usize = 1024;
/// The longest name of one file or folder, in bytes: a limit of clients' file systems.
pub const LONGEST_NAME: usize = 255;

/// No file may have this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Hurtful {
    /// Empty, longer than [`LONGEST`], or with a name longer than [`LONGEST_NAME`].
    #[error("it is empty, or too long")]
    Length,
    /// A name is empty, `.` or `..`, begins or ends with a space, or ends with a dot.
    #[error("one of its names is empty, consists of dots, or starts or ends with a space")]
    Name,
    /// A character that some system reads as another one, or drops.
    #[error("it has a character that not every file system allows in names")]
    Character,
}

/// Whether a file may have this path. The path is decoded and has no slash at either end.
pub fn check(path: &str) -> Result<(), Hurtful> {
    check_raw(path).and_then(|()| if path.contains(':') { Err(Hurtful::Character) } else { Ok(()) })
}

/// The same for a raw file, whose names may have colons, as those of versions with an epoch in Arch
/// (`lamp-1:2.0-1-any.pkg.tar.zst`) and of the projects of the Open Build Service (`home:/jane:/`).
pub fn check_raw(path: &str) -> Result<(), Hurtful> {
    if path.is_empty() || path.len() > LONGEST {
        return Err(Hurtful::Length);
    }
    if path.bytes().fold(false, |found, byte| found | odd(byte)) || (!path.is_ascii() && path.contains(far)) {
        return Err(Hurtful::Character);
    }
    path.split('/').try_for_each(|name| match name {
        "" | "." | ".." => Err(Hurtful::Name),
        _ if name.len() > LONGEST_NAME => Err(Hurtful::Length),
        _ if name.starts_with(' ') || name.ends_with([' ', '.']) => Err(Hurtful::Name),
        _ => Ok(()),
    })
}

/// Whether an ASCII byte is not allowed in names. Nearly every path has only ASCII bytes. The code has no branches, so
/// that the processor checks 16 of them at once.
fn odd(byte: u8) -> bool {
    let between = matches!(byte, b'\\' | b'*' | b'?' | b'"' | b'<' | b'>' | b'|');
    between | byte.is_ascii_control()
}

/// Whether another character is not allowed.
fn far(c: char) -> bool {
    c.is_control() || c == '\u{feff}'
}

/// A path without its query, and the query. No name has a `?`, so the first one begins the query.
pub fn split_query(path: &str) -> (&str, Option<&str>) {
    path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)))
}

/// Whether a query may be a part of a path: at most [`LONGEST`] visible ASCII characters that a URL may hold
/// (RFC 3986 3.4, and what clients send besides).
pub fn is_query(query: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'\\');
    !query.is_empty() && query.len() <= LONGEST && query.bytes().all(fits)
}

/// The folder of a path, without a slash at its end; empty at the root.
pub fn folder(path: &str) -> &str {
    folder_end(path).map_or("", |end| &path[..end])
}

/// The position of the last slash. Names are short, so a byte-by-byte loop is faster than a search made for long
/// texts.
pub(crate) fn folder_end(path: &str) -> Option<usize> {
    path.bytes().rposition(|byte| byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_builds_are_let_through_and_names_that_hurt_are_not() {
        for good in [
            "org/example/lamp/1.0/lamp-1.0.jar",
            "a/b/1.0+build.5/b-1.0+build.5.tar.gz",
            ".meta/prefixes.txt",
            "dist/node v20/x~1@y,z=1;v.zip",
            "\u{fc}ml\u{e4}ut/x",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("", Hurtful::Length),
            ("a//b", Hurtful::Name),
            ("/a", Hurtful::Name),
            ("a/", Hurtful::Name),
            ("a/../b", Hurtful::Name),
            ("./a", Hurtful::Name),
            ("a/b.", Hurtful::Name),
            ("a/ b", Hurtful::Name),
            ("a\0b", Hurtful::Character),
            ("a\\b", Hurtful::Character),
            ("c:/x", Hurtful::Character),
        ] {
            assert_eq!(check(bad), Err(why), "{bad}");
        }
        for raw in ["extra/lamp-1:2.0-1-any.pkg.tar.zst", "core:/stable:/v1.30/deb/Release", "a/:b"] {
            assert_eq!((check(raw), check_raw(raw)), (Err(Hurtful::Character), Ok(())), "{raw}");
        }
        assert_eq!((check_raw("a?b"), check_raw("a:/../b")), (Err(Hurtful::Character), Err(Hurtful::Name)));
        assert_eq!(check(&"a/".repeat(512)), Err(Hurtful::Name));
        assert_eq!(check(&format!("{}a", "a/".repeat(512))), Err(Hurtful::Length));
        assert_eq!(check(&"a".repeat(256)), Err(Hurtful::Length));
    }
    #[test]
    fn a_query_is_told_from_the_path_and_holds_nothing_that_a_url_does_not() {
        assert_eq!(split_query("a/b?c=d/e?f"), ("a/b", Some("c=d/e?f")));
        assert_eq!(split_query("a/b"), ("a/b", None));
        for good in ["platform=linux", "a[b]=c&d=%20+;/?:@", "flag"] {
            assert!(is_query(good), "{good}");
        }
        for bad in ["", "a b", "a\nb", "a#b", "a\\b", "<a>", "\u{fc}", &"a".repeat(LONGEST + 1)] {
            assert!(!is_query(bad), "{bad:?}");
        }
    }
}
