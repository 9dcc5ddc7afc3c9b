//! The dependency API, `/api/v1/dependencies?gems=a,b`: every version of the gems asked for, with what it needs. Bundler
//! before 1.12 and RubyGems before 3.2.3 resolve with it, and whoever cannot read the compact index.
//!
//! What it says of a gem is a piece, the same bytes in whichever list; lists are made by joining pieces.

use super::marshal::{self, Writer};
use super::{Identity, Invalid, Kind, Package, Version};
use std::fmt::Write as _;

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Ruby's Marshal, with symbols as keys.
    Marshal,
    /// JSON.
    Json,
}

/// The symbols of a version, in the order in which the first of a list defines them.
const SYMBOLS: &[&str] = &["name", "E", "number", "platform", "dependencies"];

/// A version in short, for those who read many: `1.0.0-java rack:>= 2.0.5&~> 2.0,zeta:>= 0`. Neither names nor versions
/// nor requirements have any of the signs between them.
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

/// What of a version in short tells it from the gem's others.
pub fn identity(brief: &str) -> Result<Identity, Invalid> {
    let (number, platform, _) = read(brief);
    Ok(Identity { number: Version::parse(number)?, platform: platform.to_owned() })
}

/// The number of a version in short.
pub fn number(brief: &str) -> &str {
    read(brief).0
}

/// Number, platform, and what is needed: names and requirements.
fn read(brief: &str) -> (&str, &str, impl Iterator<Item = (&str, String)> + Clone) {
    let (slug, needed) = brief.split_once(' ').unwrap_or((brief, ""));
    let (number, platform) = slug.split_once('-').unwrap_or((slug, "ruby"));
    let needed = needed.split(',').filter_map(|one| one.split_once(':'));
    (number, platform, needed.map(|(name, requirement)| (name, requirement.replace('&', ", "))))
}

/// What is said of one gem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    versions: usize,
    /// How the first version is written at the beginning of a list: as it is in `all`, but for this.
    opening: Box<[u8]>,
    /// How many bytes of `all` that stands for.
    opened: usize,
    all: Box<[u8]>,
}

impl Piece {
    /// The piece about the gem `name` that has these versions, in short.
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

    /// How many bytes it has.
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

/// Every version with a comma behind it. Nothing in it has to be escaped.
fn json(out: &mut Vec<u8>, name: &str, brief: &str) {
    let (number, platform, needed) = read(brief);
    let mut text = format!(r#"{{"name":"{name}","number":"{number}","platform":"{platform}","dependencies":["#);
    for (at, (name, requirement)) in needed.enumerate() {
        let _ = write!(text, r#"{}["{name}","{requirement}"]"#, if at == 0 { "" } else { "," });
    }
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"]},");
}

/// The list that is made of these pieces.
pub fn list<'a>(form: Form, pieces: impl Iterator<Item = &'a Piece> + Clone) -> Vec<u8> {
    let size: usize = pieces.clone().map(|piece| piece.all.len() + SYMBOLS.len() * 16).sum();
    let mut out = Vec::with_capacity(size + 16);
    match form {
        Form::Marshal => {
            out.extend_from_slice(&marshal::OPENING);
            Writer::new(&mut out).array(pieces.clone().map(|piece| piece.versions).sum());
            for (at, piece) in pieces.filter(|piece| piece.versions > 0).enumerate() {
                let opened = if at == 0 { piece.opened } else { 0 };
                out.extend_from_slice(if at == 0 { &piece.opening } else { &[] });
                out.extend_from_slice(&piece.all[opened..]);
            }
        }
        Form::Json => {
            out.push(b'[');
            pieces.for_each(|piece| out.extend_from_slice(&piece.all));
            out.pop_if(|last| *last == b',');
            out.push(b']');
        }
    }
    out
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
        list(form, pieces.iter())
    }

    #[test]
    fn a_version_in_short_has_its_runtime_dependencies_in_the_order_of_the_gemspec() {
        let built = package::read(fixture::gem(fixture::SPEC_3_3).as_slice(), &package::Limits::default()).unwrap();
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
        assert_eq!(list(Form::Marshal, [&piece].into_iter()), one);
        assert_eq!(list(Form::Marshal, std::iter::empty()), b"\x04\x08[\0");
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
        assert_eq!(list(Form::Json, std::iter::empty()), b"[]");
    }
}
