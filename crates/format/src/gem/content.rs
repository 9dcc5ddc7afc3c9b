//! The files in a gem: their names, sizes and digests, and its README.
//!
//! They are read as RubyGems unpacks them, and nothing is written anywhere. The bytes of files are only hashed, apart
//! from those of one README.

use super::archive::Archive;
use super::package::{DATA, hex};
use super::standard::Standard;
use super::{Invalid, Limits};
use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};
use std::io::{self, BufReader, Read};

/// The endings of a README, the best to read first.
const ENDINGS: [&str; 8] = [".md", ".markdown", "", ".txt", ".rdoc", ".rst", ".adoc", ".org"];

/// The files in a gem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// The files, in the order of the archive.
    pub files: Vec<ContentFile>,
    /// The README in the gem's own folder.
    pub readme: Option<Readme>,
    /// Whether there are more files or bytes than are read.
    pub is_cut: bool,
}

/// A file in a gem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFile {
    /// Its path.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its digest, hexadecimal.
    pub sha256: String,
}

/// The README of a gem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readme {
    /// The name of the file.
    pub name: String,
    /// Its text. Bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether the text is only the beginning.
    pub is_cut: bool,
}

/// Reads the files in a gem, at most [`Limits::content_bytes`] unpacked bytes of at most [`Limits::content_files`] files.
pub fn read(reader: impl Read, limits: &Limits) -> Result<Content, Invalid> {
    unpacked(reader, limits, true)
}

/// Reads the README of a gem within the same limits, and nothing after the best kind of one. No file is hashed.
pub fn readme(reader: impl Read, limits: &Limits) -> Result<Option<Readme>, Invalid> {
    Ok(unpacked(reader, limits, false)?.readme)
}

fn unpacked(reader: impl Read, limits: &Limits, digests: bool) -> Result<Content, Invalid> {
    let mut archive = Archive::new(reader, Standard::Install);
    while let Some((name, _)) = archive.next()? {
        if name == DATA {
            let unpacked = GzDecoder::new(BufReader::new(Member(&mut archive)));
            return files(unpacked.take(limits.content_bytes), limits, digests);
        }
    }
    Err(Invalid::MissingMember(DATA))
}

/// The bytes of the current member of an archive.
struct Member<'a, R>(&'a mut Archive<R>);

impl<R: Read> Read for Member<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to).map_err(|error| match error {
            Invalid::Unreadable(error) => error,
            other => io::Error::other(other),
        })
    }
}

/// The files and the README; without `digests` only the README.
fn files(unpacked: io::Take<impl Read>, limits: &Limits, digests: bool) -> Result<Content, Invalid> {
    let mut content = Content::default();
    let mut archive = Archive::new(Counted { reader: unpacked, ended: false }, Standard::Install);
    let (mut rank, mut members) = (usize::MAX, 0);
    while digests || rank > 0 {
        let (path, size_bytes) = match archive.next() {
            // An empty archive has no header.
            Ok(None) | Err(Invalid::NotAnArchive) => return Ok(content),
            Ok(Some(next)) => next,
            Err(error) => return cut(content, &archive, error),
        };
        if members >= limits.content_files {
            return Ok(Content { is_cut: true, ..content });
        }
        members += 1;
        let keep = rank_of(&path).filter(|this| *this < rank);
        if keep.is_none() && !digests {
            continue;
        }
        let (mut sha256, mut kept, mut buffer) = (Sha256::new(), Vec::new(), vec![0; 16 << 10]);
        loop {
            let read = match archive.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => return cut(content, &archive, error),
            };
            if digests {
                sha256.update(&buffer[..read]);
            }
            if keep.is_some() {
                let room = limits.readme_bytes.saturating_sub(kept.len()).min(read);
                kept.extend_from_slice(&buffer[..room]);
            }
        }
        if let Some(this) = keep {
            rank = this;
            let is_cut = size_bytes > kept.len() as u64;
            let text = String::from_utf8_lossy(&kept).into_owned();
            content.readme = Some(Readme { name: path.clone(), text, is_cut });
        }
        if digests && !path.ends_with('/') {
            content.files.push(ContentFile { path, size_bytes, sha256: hex(&sha256.finalize()) });
        }
    }
    Ok(content)
}

/// The files so far, if the limit of bytes was reached; otherwise the error.
fn cut<R: Read>(content: Content, archive: &Archive<Counted<R>>, error: Invalid) -> Result<Content, Invalid> {
    if archive.reader().is_at_limit() { Ok(Content { is_cut: true, ..content }) } else { Err(error) }
}

/// Knows whether its limit was reached.
struct Counted<R> {
    reader: io::Take<R>,
    ended: bool,
}

impl<R> Counted<R> {
    fn is_at_limit(&self) -> bool {
        self.ended && self.reader.limit() == 0
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(to)?;
        self.ended |= read == 0 && !to.is_empty();
        Ok(read)
    }
}

/// How good a README a file is, the best first; `None`: it is none.
fn rank_of(path: &str) -> Option<usize> {
    let name = path.strip_prefix("./").unwrap_or(path).to_ascii_lowercase();
    let ending = name.strip_prefix("readme")?;
    ENDINGS.iter().position(|known| *known == ending)
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write as _;

    fn gem(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&fixture::package(files)).unwrap();
        fixture::package(&[("metadata.gz", b"x"), (DATA, &gzip.finish().unwrap())])
    }

    fn limits(content_bytes: u64, content_files: usize, readme_bytes: usize) -> Limits {
        Limits { content_bytes, content_files, readme_bytes, ..Limits::default() }
    }

    #[test]
    fn files_and_the_best_readme_are_read() {
        let all: [(&str, &[u8]); 5] = [
            ("README.rdoc", b"= Old"),
            ("lib/a.rb", b"a"),
            ("readme.md", b"# \xff"),
            ("lib/README.md", b"n"),
            ("b", b""),
        ];
        let content = read(gem(&all).as_slice(), &Limits::default()).unwrap();
        let paths: Vec<_> = content.files.iter().map(|file| (file.path.as_str(), file.size_bytes)).collect();
        assert_eq!(paths, [("README.rdoc", 5), ("lib/a.rb", 1), ("readme.md", 3), ("lib/README.md", 1), ("b", 0)]);
        assert_eq!(content.files[1].sha256, hex(&Sha256::digest(b"a")));
        let readme = content.readme.unwrap();
        assert_eq!((readme.name.as_str(), readme.text.as_str(), readme.is_cut), ("readme.md", "# \u{fffd}", false));
        assert!(!content.is_cut);
        assert_eq!(super::readme(gem(&all).as_slice(), &Limits::default()).unwrap(), Some(readme));
    }

    #[test]
    fn folders_count_as_files_and_nothing_is_read_after_the_best_readme() {
        let all: [(&str, &[u8]); 3] = [("README.md", b"# Hello"), ("a/", b""), ("b/", b"")];
        assert!(read(gem(&all).as_slice(), &limits(1 << 20, 2, 9)).unwrap().is_cut);
        // The rest of the content is not even an archive.
        let mut content = fixture::package(&all[..1]);
        content.truncate(1024);
        content.extend([b'x'; 40_000]);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&content).unwrap();
        let damaged = fixture::package(&[("metadata.gz", b"x"), (DATA, &gzip.finish().unwrap())]);
        assert!(read(damaged.as_slice(), &Limits::default()).is_err());
        let found = super::readme(damaged.as_slice(), &Limits::default()).unwrap();
        assert_eq!(found.map(|readme| readme.text), Some("# Hello".to_owned()));
    }

    #[test]
    fn limits_cut_the_list_and_the_readme_and_say_so() {
        let (long, bytes) = (vec![b'x'; 40_000], Limits::default().content_bytes);
        let all: [(&str, &[u8]); 3] = [("README", b"hello"), ("long", &long), ("end", b"e")];
        let cut = |limits: &Limits| read(gem(&all).as_slice(), limits).unwrap();
        let few = cut(&limits(bytes, 1, 3));
        assert_eq!((few.files.len(), few.is_cut), (1, true));
        assert_eq!(few.readme.map(|readme| (readme.text, readme.is_cut)), Some(("hel".to_owned(), true)));
        let short = cut(&limits(10_000, 9, 9));
        assert_eq!((short.files.len(), short.is_cut), (1, true));
        let whole = cut(&limits(bytes, 9, 9));
        assert_eq!((whole.files.len(), whole.is_cut), (3, false));
    }

    #[test]
    fn a_damaged_content_is_an_error_and_an_empty_one_is_none() {
        let of = |data: &[u8]| fixture::package(&[("metadata.gz", b"x"), (DATA, data)]);
        let mut empty = GzEncoder::new(Vec::new(), Compression::fast());
        empty.write_all(b"").unwrap();
        assert_eq!(read(of(&empty.finish().unwrap()).as_slice(), &Limits::default()).unwrap(), Content::default());
        assert!(read(of(b"no gzip").as_slice(), &Limits::default()).is_err());
        assert!(matches!(
            read(fixture::package(&[("metadata.gz", b"x")]).as_slice(), &Limits::default()),
            Err(Invalid::MissingMember(DATA))
        ));
    }
}
