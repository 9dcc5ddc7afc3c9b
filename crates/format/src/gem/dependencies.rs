//! The dependency API, `/api/v1/dependencies?gems=a,b`: every version of the requested gems with its dependencies.
//! Bundler before 1.12, RubyGems before 3.2.3 and clients that cannot read the compact index resolve with it.
//!
//! The part about one gem has the same bytes in every list, so lists are joined from these parts.

use super::marshal::{self, Writer};
use super::{Identity, Invalid, Kind, Package, Version};
use bytes::Bytes;
use std::fmt::Write as _;

/// A part of at least this many bytes is sent without a copy. Smaller parts are copied into one buffer, which costs
/// less than a separate write to the socket.
const SENT_AS_IT_IS: usize = 16 << 10;

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Ruby's Marshal, with symbols as keys.
    Marshal,
    /// JSON.
    Json,
}

/// The symbols of a version, in the order in which the first version of a list defines them.
const SYMBOLS: &[&str] = &["name", "E", "number", "platform", "dependencies"];

/// A version in short, for lists of many: `1.0.0-java rack:>= 2.0.5&~> 2.0,zeta:>= 0`. Names, versions and
/// requirements contain none of these separators.
pub fn brief(package: &Package) -> String {
    let mut brief = super::facts::slug(package.number.as_str(), &package.platform);
    let runtime = package.dependencies.iter().filter(|dependency| dependency.kind == Kind::Runtime);
    for (at, dependency) in runtime.enumerate() {
        let _ = write!(brief, "{}{}:", if at == 0 { ' ' } else { ',' }, dependency.name);
        for (at, (op, number)) in dependency.requirement.constraints().iter().enumerate() {
            let _ = write!(brief, "{}{} {number}", if at == 0 { "" } else { "&" }, op.as_str());
        }
    }
    brief
}

/// The number and platform of a version in short.
pub fn identity(brief: &str) -> Result<Identity, Invalid> {
    let (number, platform, _) = read(brief);
    Ok(Identity { number: Version::parse(number)?, platform: platform.to_owned() })
}

/// The number of a version in short.
pub fn number(brief: &str) -> &str {
    read(brief).0
}

/// Number, platform, and dependencies: names and requirements.
fn read(brief: &str) -> (&str, &str, impl Iterator<Item = (&str, String)> + Clone) {
    let (slug, needed) = brief.split_once(' ').unwrap_or((brief, ""));
    let (number, platform) = slug.split_once('-').unwrap_or((slug, "ruby"));
    let needed = needed.split(',').filter_map(|one| one.split_once(':'));
    (number, platform, needed.map(|(name, requirement)| (name, requirement.replace('&', ", "))))
}

/// The part of a list about one gem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    versions: usize,
    /// The first version when it is at the beginning of a list. It differs from its form in `all`.
    opening: Box<[u8]>,
    /// The length of that version in `all`.
    opened: usize,
    all: Bytes,
}

impl Piece {
    /// The part about the gem `name` with these versions in short.
    pub fn new<'a>(form: Form, name: &str, briefs: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut opening, mut opened, mut all, mut versions) = (Vec::new(), 0, Vec::new(), 0);
        for brief in briefs {
            match form {
                Form::Marshal => marshal(&mut Writer::after(SYMBOLS, &mut all), name, brief),
                Form::Json => json(&mut all, name, brief),
            }
            if versions == 0 && form == Form::Marshal {
                marshal(&mut Writer::new(&mut opening), name, brief);
                opened = all.len();
            }
            versions += 1;
        }
        Self { versions, opening: opening.into(), opened, all: all.into() }
    }

    /// Its length in bytes.
    pub fn size(&self) -> usize {
        self.opening.len() + self.all.len()
    }
}

fn marshal(to: &mut Writer<'_>, name: &str, brief: &str) {
    let (number, platform, needed) = read(brief);
    to.hash(4);
    for (key, value) in [("name", name), ("number", number), ("platform", platform)] {
        to.symbol(key);
        to.string(value);
    }
    to.symbol("dependencies");
    to.array(needed.clone().count());
    for (name, requirement) in needed {
        to.strings(&[name, &requirement]);
    }
}

/// Every version, followed by a comma. Nothing in it needs escaping.
fn json(out: &mut Vec<u8>, name: &str, brief: &str) {
    let (number, platform, needed) = read(brief);
    let mut text = format!(r#"{{"name":"{name}","number":"{number}","platform":"{platform}","dependencies":["#);
    for (at, (name, requirement)) in needed.enumerate() {
        let _ = write!(text, r#"{}["{name}","{requirement}"]"#, if at == 0 { "" } else { "," });
    }
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"]},");
}

/// Joins these parts into a list, as buffers to be sent in order. Large parts are shared by all lists, so a list of
/// megabytes is not copied for each client.
pub fn list<'a>(form: Form, pieces: impl Iterator<Item = &'a Piece> + Clone) -> Vec<Bytes> {
    let mut list = List::default();
    match form {
        Form::Marshal => {
            list.copied.extend_from_slice(&marshal::OPENING);
            Writer::new(&mut list.copied).array(pieces.clone().map(|piece| piece.versions).sum());
            for (at, piece) in pieces.filter(|piece| piece.versions > 0).enumerate() {
                if at == 0 {
                    list.copied.extend_from_slice(&piece.opening);
                    list.push(piece.all.slice(piece.opened..));
                } else {
                    list.push(piece.all.clone());
                }
            }
        }
        Form::Json => {
            list.copied.push(b'[');
            let mut pieces = pieces.filter(|piece| piece.versions > 0).peekable();
            while let Some(piece) = pieces.next() {
                // The last version has no comma after it.
                let end = piece.all.len() - usize::from(pieces.peek().is_none());
                list.push(piece.all.slice(..end));
            }
            list.copied.push(b']');
        }
    }
    list.end()
}

/// A list that is being joined.
#[derive(Default)]
struct List {
    buffers: Vec<Bytes>,
    /// The buffer for small parts.
    copied: Vec<u8>,
}

impl List {
    fn push(&mut self, piece: Bytes) {
        if piece.len() < SENT_AS_IT_IS {
            self.copied.extend_from_slice(&piece);
        } else {
            self.cut();
            self.buffers.push(piece);
        }
    }

    fn cut(&mut self) {
        if !self.copied.is_empty() {
            self.buffers.push(std::mem::take(&mut self.copied).into());
        }
    }

    fn end(mut self) -> Vec<Bytes> {
        self.cut();
        self.buffers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gem::{fixture, package};

    const BRIEFS: [&str; 2] = ["1.0-java b:>= 1.0&< 2,c:>= 0", "1.1"];

    fn written(form: Form) -> Vec<u8> {
        let pieces = [
            Piece::new(form, "none", []),
            Piece::new(form, "a", BRIEFS),
            Piece::new(form, "none", []),
            Piece::new(form, "d", ["2"]),
        ];
        list(form, pieces.iter()).concat()
    }

    #[test]
    fn a_version_in_short_has_its_runtime_dependencies_in_the_order_of_the_gemspec() {
        let built = package::read(fixture::gem(fixture::SPEC_3_3).as_slice(), &crate::gem::Limits::default()).unwrap();
        assert_eq!(brief(&built), "1.2.0.pre1-x86_64-linux-gnu zeta:>= 0,rack:~> 2.0&>= 2.0.5");
        let (number, platform, needed) = read(BRIEFS[0]);
        assert_eq!((number, platform), ("1.0", "java"));
        assert_eq!(needed.collect::<Vec<_>>(), [("b", ">= 1.0, < 2".to_owned()), ("c", ">= 0".to_owned())]);
        assert_eq!(read("1.1").1, "ruby");
        let told = identity(&brief(&built)).unwrap();
        assert_eq!((told.number.as_str(), told.platform), ("1.2.0.pre1", built.platform));
    }

    #[test]
    fn a_list_in_marshal_is_what_ruby_would_write() {
        let one =
            b"\x04\x08[\x06{\x09:\x09nameI\"\x06a\x06:\x06ET:\x0bnumberI\"\x081.0\x06;\x06T:\x0dplatformI\"\x09java\
            \x06;\x06T:\x11dependencies[\x06[\x07I\"\x06b\x06;\x06TI\"\x10>= 1.0, < 2\x06;\x06T";
        let piece = Piece::new(Form::Marshal, "a", ["1.0-java b:>= 1.0&< 2"]);
        assert_eq!(list(Form::Marshal, [&piece].into_iter()).concat(), one);
        assert_eq!(list(Form::Marshal, std::iter::empty()).concat(), b"\x04\x08[\0");
        let all = written(Form::Marshal);
        assert!(all.starts_with(b"\x04\x08[\x08{\x09:\x09nameI\"\x06a"));
        assert!(all.ends_with(b"{\x09;\0I\"\x06d\x06;\x06T;\x07I\"\x062\x06;\x06T;\x08I\"\x09ruby\x06;\x06T;\x09[\0"));
        assert_eq!(all.windows(4).filter(|part| part == b"name").count(), 1);
    }

    #[test]
    fn a_list_in_json_has_the_same_keys() {
        let read: serde_json::Value = serde_json::from_slice(&written(Form::Json)).unwrap();
        let version = |name: &str, number: &str, platform: &str, needed: &[[&str; 2]]| serde_json::json!({ "name": name, "number": number, "platform": platform, "dependencies": needed });
        assert_eq!(
            read,
            serde_json::json!([
                version("a", "1.0", "java", &[["b", ">= 1.0, < 2"], ["c", ">= 0"]]),
                version("a", "1.1", "ruby", &[]),
                version("d", "2", "ruby", &[]),
            ])
        );
        assert_eq!(list(Form::Json, std::iter::empty()).concat(), b"[]");
    }

    #[test]
    fn a_large_piece_is_sent_without_a_copy_and_the_bytes_are_those_of_one_buffer() {
        let briefs: Vec<String> = (0..2_000).map(|number| format!("{number} rack:>= {number}")).collect();
        for form in [Form::Marshal, Form::Json] {
            let large = Piece::new(form, "large", briefs.iter().map(String::as_str));
            let small = Piece::new(form, "small", BRIEFS);
            assert!(large.size() > SENT_AS_IT_IS && small.size() < SENT_AS_IT_IS);
            let shared = |buffers: &[Bytes]| {
                let range = large.all.as_ptr_range();
                buffers.iter().filter(|buffer| range.contains(&buffer.as_ptr())).count()
            };
            for pieces in [[&large, &small], [&small, &large]] {
                let sent = list(form, pieces.into_iter());
                assert_eq!(shared(&sent), 1, "{form:?}");
                // The same versions in small parts, which are copied into one buffer.
                let apart: Vec<Piece> = pieces
                    .iter()
                    .flat_map(|piece| match piece.versions {
                        2 => vec![Piece::new(form, "small", BRIEFS)],
                        _ => briefs.iter().map(|brief| Piece::new(form, "large", [brief.as_str()])).collect(),
                    })
                    .collect();
                let joined = list(form, apart.iter());
                assert_eq!(joined.len(), 1);
                assert!(sent.concat() == joined[0], "{form:?}");
            }
        }
    }
}
