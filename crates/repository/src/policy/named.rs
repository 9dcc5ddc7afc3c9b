//! What something in a repository is, as far as policy cares: a version of a package, since when it exists, and whose it is.

use crate::format::Format;
use format::maven::path;
use format::tree;
use std::borrow::Cow;
use std::fmt;
use telemetry::Millis;

/// What something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<'a> {
    /// The format that names it.
    pub format: Format,
    /// The package: Maven's `G:A`, a gem's name, the path of a raw file.
    pub package: Cow<'a, str>,
    /// The version; empty: it is about the package, whatever versions that has.
    pub version: Cow<'a, str>,
    /// Since when it exists.
    pub since: Since,
    /// Whether it is an upstream's.
    pub upstream: bool,
}

/// Since when something exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// It has no age of its own: it is no version.
    Always,
    /// This moment.
    Moment(Millis),
    /// Nobody knows how much longer than from this moment on, when it was first seen: it counts from then.
    FirstSeen(Millis),
    /// Nobody knows, so it counts as young.
    Unknown,
}

impl<'a> Named<'a> {
    /// A version of a gem; with an empty number, the gem.
    pub fn gem(name: &'a str, number: impl Into<Cow<'a, str>>, since: Since) -> Self {
        Self { format: Format::Gem, package: name.into(), version: number.into(), since, upstream: false }
    }

    /// A version of Maven's artifact (its group as folders); with an empty version, the artifact.
    pub fn maven((group, artifact): (&str, &str), version: &'a str, since: Since) -> Self {
        let package = format!("{}:{artifact}", group.replace('/', ".")).into();
        Self { format: Format::Maven, package, version: version.into(), since, upstream: false }
    }

    /// The file at a path of a tree. `None`: it is a document that tells of versions, and none itself.
    pub fn file(format: Format, path: &'a str, since: Since) -> Option<Self> {
        match format {
            Format::Gem => None,
            Format::Raw => Some(Self { format, package: path.into(), version: "".into(), since, upstream: false }),
            Format::Maven => {
                let (group, artifact, version) = path::version_of(path)?;
                Some(Self::maven((group, artifact), version, since))
            }
        }
    }

    /// The same, of an upstream.
    pub fn upstream(self) -> Self {
        Self { upstream: true, ..self }
    }

    /// The same, of that age.
    pub fn since(self, since: Since) -> Self {
        Self { since, ..self }
    }

    /// The raw file that this is a checksum of, by its name: who may not see the one is not told of it by the other.
    pub(crate) fn summed(&self) -> Option<Named<'_>> {
        let (file, _) = tree::checksum_of(&self.package).filter(|_| self.format == Format::Raw)?;
        let Self { format, since, upstream, .. } = *self;
        Some(Named { format, package: file.into(), version: "".into(), since, upstream })
    }

    /// The names that tell it from others, in the order in which patterns have them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        let (first, second) = match self.format {
            Format::Maven => self.package.split_once(':').map_or((&*self.package, Some("")), |(g, a)| (g, Some(a))),
            Format::Gem | Format::Raw => (&*self.package, None),
        };
        let version = (self.format != Format::Raw).then_some(&*self.version);
        [Some(first), second, version].into_iter().flatten()
    }
}

impl fmt::Display for Named<'_> {
    /// As patterns write it: `org.example:lamp:1.2`, `rack:3.0.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package)?;
        if self.version.is_empty() { Ok(()) } else { write!(f, ":{}", self.version) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_paths_and_documents_are_no_versions() {
        let file = |format, path: &'static str| Named::file(format, path, Since::Always);
        let jar = file(Format::Maven, "org/example/lamp/1.0/lamp-1.0.jar.sha1").unwrap();
        assert_eq!((jar.to_string().as_str(), jar.upstream), ("org.example:lamp:1.0", false));
        assert_eq!(jar.fields().collect::<Vec<_>>(), ["org.example", "lamp", "1.0"]);
        assert_eq!(file(Format::Maven, "org/example/lamp/1.0/other.txt").unwrap().to_string(), "org.example:lamp:1.0");
        assert_eq!(file(Format::Maven, "org/example/lamp/maven-metadata.xml"), None);
        let raw = file(Format::Raw, "tools/a:b").unwrap();
        assert_eq!(raw.fields().collect::<Vec<_>>(), ["tools/a:b"]);
        assert_eq!(Named::gem("rack", "3.0", Since::Always).fields().collect::<Vec<_>>(), ["rack", "3.0"]);
    }
}
