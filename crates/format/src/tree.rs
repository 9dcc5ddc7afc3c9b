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
    let between = matches!(byte, b'\\' | b':' | b'*' | b'?' | b'"' | b'<' | b'>' | b'|');
    between | byte.is_ascii_control()
}

/// Whether another character is not allowed.
fn far(c: char) -> bool {
    c.is_control() || c == '\u{feff}'
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
        assert_eq!(check(&"a/".repeat(512)), Err(Hurtful::Name));
        assert_eq!(check(&format!("{}a", "a/".repeat(512))), Err(Hurtful::Length));
        assert_eq!(check(&"a".repeat(256)), Err(Hurtful::Length));
    }
}
