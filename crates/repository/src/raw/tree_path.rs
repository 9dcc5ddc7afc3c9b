//! A path of a raw repository as a path of a tree.

use crate::format::Format;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use crate::raw::layout::RawPath;
use crate::tree::facts::{Guarded, PathFacts};
use crate::tree::readable::Readable;
use crate::tree::subject;
use crate::upstream::first_seen::age_key::AgeKey;
use format::tree;
use telemetry::Subject;

impl<'a> RawPath<'a> {
    pub(crate) fn unit(self) -> &'a str {
        tree::folder(self.without_query())
    }

    pub(crate) fn facts(self) -> PathFacts<'a> {
        PathFacts {
            without_query: self.without_query(),
            kept_checksum_of: tree::checksum_of(self.0),
            keeps_checksums: true,
            is_immutable: None,
            is_listed: false,
            passes_refusal: true,
            may_be_folder: true,
        }
    }

    pub(crate) fn subject(self, kind: &'static str) -> Subject {
        subject::subject(kind, self.0)
    }

    pub(crate) fn named(self, since: Since) -> Option<PackageVersion<'a>> {
        let package = self.without_query().into();
        Some(PackageVersion { format: Format::Raw, package, version: "".into(), since, upstream: false })
    }

    pub(crate) fn hidden_at_any_age(self, rules: &Rules) -> Option<Hidden> {
        let path = self.without_query();
        if tree::is_ambiguous(path) {
            return rules.cannot_classify(path);
        }
        rules.forbids(&self.named(Since::Always)?.upstream()).or_else(|| {
            // A listing reveals everything in its folder.
            rules.denies(&RawPath(&format!("{path}/")).named(Since::Always)?)
        })
    }

    /// The path itself, and the file whose checksum it is.
    pub(crate) fn guarded_at(self, place: usize) -> Option<Guarded<'a>> {
        let path = self.without_query();
        let names = [Some(path), tree::checksum_of(path).map(|(of, _)| of)];
        names.into_iter().flatten().nth(place).map(Guarded::Path)
    }

    pub(crate) fn guarded_name(self, name: Guarded<'a>) -> Option<PackageVersion<'a>> {
        let (Guarded::Folder(name) | Guarded::Path(name)) = name;
        RawPath(name).named(Since::Always)
    }

    pub(crate) fn readable(self) -> Option<Readable> {
        None
    }

    pub(crate) fn age_key(self) -> AgeKey<'a> {
        AgeKey::Bytes
    }
}
