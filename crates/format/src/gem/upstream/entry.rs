//! A line of an upstream's `/versions`: `NAME [-]VERSION[-PLATFORM][,...] MD5`.

use crate::gem::name;

/// The most characters in the place of the MD5. A server may write another digest there: clients only compare it.
const DIGEST_CHARS: usize = 128;

/// The parts of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) versions: &'a str,
    /// It is missing between a push and the computation of the digest of its `/info` (Bundler before 4.0.12 fails at
    /// such a line).
    pub(super) md5: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Parses a line; `None` if no client could use it. Characters with a meaning in lines or paths are refused.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let printable = line.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let line = std::str::from_utf8(line).ok().filter(|_| printable)?;
        let (name, rest) = line.split_once(' ')?;
        let (versions, md5) = rest.split_once(' ').unwrap_or((rest, ""));
        let fine = name.len() <= name::MAX && name::plain(name) && !matches!(name, "." | "..");
        let versions_fine = versions.split(',').all(|version| token(version.strip_prefix('-').unwrap_or(version)));
        let md5_fine = md5.len() <= DIGEST_CHARS && !md5.contains(' ');
        (fine && versions_fine && md5_fine).then_some(Self {
            name,
            versions,
            md5: Some(md5).filter(|md5| !md5.is_empty()),
        })
    }

    /// Its versions; `true` for a removed one.
    pub(super) fn tokens(self) -> impl Iterator<Item = (bool, &'a str)> {
        self.versions.split(',').map(|version| match version.strip_prefix('-') {
            Some(gone) => (true, gone),
            None => (false, version),
        })
    }
}

/// Whether this can be a version with its platform or content address.
pub(super) fn token(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 2 * name::MAX
        && !text.starts_with(['-', '.'])
        && !text.contains(['/', '\\', '|', ' ', '"', '\'', '<', '>', '&', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_if_clients_can_use_it() {
        let md5 = "0123456789abcdef0123456789abcdef";
        let entry = |name, versions, md5| Some(Entry { name, versions, md5 });
        assert_eq!(Entry::read(format!("a 1,-2-java {md5}").as_bytes()), entry("a", "1,-2-java", Some(md5)));
        assert_eq!(Entry::read(b"a 1 opaque\r"), entry("a", "1", Some("opaque")));
        for held in ["a 1", "a 1 "] {
            assert_eq!(Entry::read(held.as_bytes()), entry("a", "1", None), "{held:?}");
        }
        let tokens: Vec<_> = entry("a", "1,-2-java", None).unwrap().tokens().collect();
        assert_eq!(tokens, [(false, "1"), (true, "2-java")]);
        for bad in [
            "",
            "a",
            "a ",
            " 1 x",
            "../b 1 x",
            ".. 1 x",
            "repo:a 1 x",
            "a 1,,2 x",
            "a --1 x",
            "a 1/2 x",
            "a 1\",\"b x",
            "a 1 x y",
            "ä 1 x",
        ] {
            assert_eq!(Entry::read(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(Entry::read(b"a 1\x1b x"), None);
        assert_eq!(Entry::read(b"<html> <p> x"), None);
    }
}
