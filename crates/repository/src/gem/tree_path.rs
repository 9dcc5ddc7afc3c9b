//! A path of a gem upstream, as paths of trees are. Gem repositories are no trees: only files of upstreams are fetched by their paths.

use crate::gem::layout::GemPath;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::Rules;
use crate::tree::facts::{Guarded, PathFacts};
use crate::tree::readable::Readable;
use crate::tree::subject;
use crate::upstream::first_seen::age_key::AgeKey;
use bytes::Bytes;
use format::gem::upstream::{INFO_BYTES, Info};
use telemetry::Subject;

impl<'a> GemPath<'a> {
    /// The gem if the path names one.
    pub(crate) fn unit(self) -> &'a str {
        self.info().unwrap_or(self.0)
    }

    pub(crate) fn facts(self) -> PathFacts<'a> {
        PathFacts {
            without_query: self.0,
            kept_checksum_of: None,
            keeps_checksums: false,
            // The index states the digest of a listed file. Facts about a package can be extended.
            is_immutable: (!self.is_listed()).then_some(false),
            is_listed: self.is_listed(),
            passes_refusal: false,
            may_be_folder: false,
        }
    }

    /// Of a package only the index knows the gem.
    pub(crate) fn subject(self, kind: &'static str) -> Subject {
        subject::subject(kind, self.info().unwrap_or_default())
    }

    /// The policy for a gem is applied to its line in `/info`, before its path is requested.
    pub(crate) fn named(self, _: Since) -> Option<PackageVersion<'a>> {
        None
    }

    pub(crate) fn hidden_at_any_age(self, _: &Rules) -> Option<Hidden> {
        None
    }

    pub(crate) fn guarded_at(self, _: usize) -> Option<Guarded<'a>> {
        None
    }

    pub(crate) fn guarded_name(self, _: Guarded<'a>) -> Option<PackageVersion<'a>> {
        None
    }

    /// The versions of a gem can be read.
    pub(crate) fn readable(self) -> Option<Readable> {
        let check = |bytes: &[u8]| {
            Info::read(Bytes::copy_from_slice(bytes)).map(|_| ()).map_err(|refusal| format!("`/info`: {refusal}"))
        };
        self.info().is_some().then(|| Readable { longest: INFO_BYTES, check: Box::new(check) })
    }

    /// The age of a gem is that of its line in the index.
    pub(crate) fn age_key(self) -> AgeKey<'a> {
        AgeKey::Document
    }
}
