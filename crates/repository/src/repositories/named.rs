//! The names of versions that commands print, where a path is expected.

use crate::format::Format;
use crate::repository::Repository;
use format::gem;
use std::borrow::Cow;

/// The path: `what` itself, or the folder of `G:A` or `G:A:V`.
pub(crate) fn path_of<'a>(repository: &Repository, what: &'a str) -> Cow<'a, str> {
    match (repository.format, what.split_once(':')) {
        (Format::Maven, Some((group, rest))) => {
            Cow::Owned(format!("{}/{}", group.replace('.', "/"), rest.replace(':', "/")))
        }
        _ => Cow::Borrowed(what.trim_matches('/')),
    }
}

impl Repository {
    /// The path of the file to explain: `path` itself, the main file of the version with that name, or the list of the versions of the
    /// package with that name.
    pub fn explained_path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        if path.contains('/') {
            return Cow::Borrowed(path);
        }
        let fields: Vec<&str> = path.split(':').collect();
        match (self.format, &fields[..]) {
            (Format::Gem, [name, version]) => Cow::Owned(format!("gems/{name}-{version}.gem")),
            (Format::Gem, [file]) if is_full_name(file) => {
                Cow::Owned(format!("gems/{}.gem", file.strip_suffix(".gem").unwrap_or(file)))
            }
            (Format::Gem, [name]) if !name.is_empty() && gem::path::read(name).is_none() => {
                Cow::Owned(format!("info/{name}"))
            }
            (Format::Maven, [_, artifact, version]) if !version.ends_with("-SNAPSHOT") => {
                Cow::Owned(format!("{}/{artifact}-{version}.pom", path_of(self, path)))
            }
            (Format::Maven, [_, _] | [_, _, _]) => Cow::Owned(format!("{}/maven-metadata.xml", path_of(self, path))),
            _ => Cow::Borrowed(path),
        }
    }
}

/// Whether it reads as `NAME-NUMBER`.
fn is_full_name(text: &str) -> bool {
    text.match_indices('-').any(|(at, _)| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
}
