//! Checksum files: `lamp-1.0.jar.sha1` beside `lamp-1.0.jar`.

/// The algorithm of a checksum, which is the ending of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Checksum {
    /// MD5.
    Md5,
    /// SHA-1, which Maven requests first.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// The longest checksum file that is read. Tools write a digest and the name of a file.
pub const LONGEST: usize = 4096;

impl Checksum {
    /// All of them.
    pub const ALL: [Checksum; 4] = [Checksum::Md5, Checksum::Sha1, Checksum::Sha256, Checksum::Sha512];

    /// The ending of its files, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Checksum::Md5 => "md5",
            Checksum::Sha1 => "sha1",
            Checksum::Sha256 => "sha256",
            Checksum::Sha512 => "sha512",
        }
    }

    /// The number of its hexadecimal digits.
    pub fn digits(self) -> usize {
        match self {
            Checksum::Md5 => 32,
            Checksum::Sha1 => 40,
            Checksum::Sha256 => 64,
            Checksum::Sha512 => 128,
        }
    }

    /// The digest in a checksum file, in lower-case hexadecimal digits: the first word of the first line that is not
    /// blank, or the text after the line's last `= `, as Maven's resolver reads it. `None`: the file has no digest of
    /// this algorithm.
    pub fn read(self, body: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(body.get(..body.len().min(LONGEST))?).ok()?;
        let line = text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty())?;
        let digest = match line.rsplit_once("= ") {
            Some((_, digest)) => digest.trim(),
            None => line.split_whitespace().next()?,
        };
        let hexadecimal = digest.len() == self.digits() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        hexadecimal.then(|| digest.to_ascii_lowercase())
    }
}

/// The path of the file that this path is a checksum of, and the algorithm.
pub fn checksum_of(path: &str) -> Option<(&str, Checksum)> {
    Checksum::ALL.into_iter().find_map(|checksum| {
        let file = path.strip_suffix(checksum.ending())?.strip_suffix('.')?;
        (!file.is_empty() && !file.ends_with('/')).then_some((file, checksum))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_told_from_its_ending() {
        assert_eq!(checksum_of("a/b.jar.sha1"), Some(("a/b.jar", Checksum::Sha1)));
        assert_eq!(checksum_of("a/b.jar.asc.md5"), Some(("a/b.jar.asc", Checksum::Md5)));
        assert_eq!(checksum_of("b.sha512"), Some(("b", Checksum::Sha512)));
        for none in ["a/b.jar", "a/.sha1", ".sha1", "sha1", "a/sha1", "a/b.SHA1", ""] {
            assert_eq!(checksum_of(none), None, "{none}");
        }
    }

    #[test]
    fn every_way_in_which_tools_write_a_checksum_is_read() {
        let digest = "d41d8cd98f00b204e9800998ecf8427e";
        for body in [
            digest.to_owned(),
            format!("{digest}\n"),
            format!("\u{feff}\n\n {digest}  lamp-1.0.jar\r\n"),
            format!("{digest} *lamp-1.0.jar"),
            format!("MD5 (lamp-1.0.jar) = {digest}\n"),
            format!("MD5(lamp-1.0.jar)= {digest}"),
            digest.to_uppercase(),
        ] {
            assert_eq!(Checksum::Md5.read(body.as_bytes()).as_deref(), Some(digest), "{body:?}");
        }
        for body in ["", "\n", "<html>", "d41d8cd98f00b204e9800998ecf8427", "d41d8cd98f00b204e9800998ecf8427g"] {
            assert_eq!(Checksum::Md5.read(body.as_bytes()), None, "{body:?}");
        }
        assert_eq!(Checksum::Sha1.read(digest.as_bytes()), None);
        assert_eq!(Checksum::Sha1.read(b"\xff"), None);
    }
}
