//! Decides which bytes are the file if an upstream's response has a `Content-Encoding`.
//!
//! Requests ask for no coding (`Accept-Encoding: identity`). Object stores return the uploaded bytes and the `Content-Encoding` of the
//! upload to every client. The coding belongs to the representation (RFC 9110 8.4), and build tools decode it before they
//! compare checksums (Apache HttpClient does). But some servers label files that are compressed by themselves, as Apache does with
//! `tool.tar.gz`.

/// The coding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    /// The body is the file.
    Identity,
    /// The file is what the body decodes to by gzip, unless a checksum says otherwise.
    Gzip,
    /// The file is itself packed by gzip: the body is the file, unless a checksum says otherwise.
    GzipOfItself,
}

impl ContentCoding {
    /// Reads the coding of the body of a file; `None`: it cannot be decoded.
    pub(crate) fn read(file: &str, coding: &str) -> Option<Self> {
        let coding = coding.trim().to_ascii_lowercase();
        let endings: &[&str] = match coding.strip_prefix("x-").unwrap_or(&coding) {
            "" | "identity" => return Some(Self::Identity),
            "gzip" => &["gz", "tgz", "crate", "svgz"],
            "bzip2" => &["bz2", "tbz2"],
            "xz" => &["xz", "txz"],
            "zstd" => &["zst"],
            "compress" => &["Z"],
            _ => &[],
        };
        let of_itself = file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending));
        match (coding.ends_with("gzip"), of_itself) {
            (true, true) => Some(Self::GzipOfItself),
            (true, false) if matches!(&*coding, "gzip" | "x-gzip") => Some(Self::Gzip),
            (false, true) => Some(Self::Identity),
            (true | false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_by_itself_may_be_called_coded_and_gzip_is_decoded() {
        for (file, coding, expected) in [
            ("a/tool.tar.gz", "x-gzip", Some(ContentCoding::GzipOfItself)),
            ("a/b.jar", " Identity ", Some(ContentCoding::Identity)),
            ("a/b.tar.xz", "xz", Some(ContentCoding::Identity)),
            ("a/b.jar", "GZIP", Some(ContentCoding::Gzip)),
            ("a/b.jar", "gzip, gzip", None),
            ("a/tool.gz", "br", None),
        ] {
            assert_eq!(ContentCoding::read(file, coding), expected, "{file} {coding}");
        }
    }
}
