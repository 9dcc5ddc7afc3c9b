//! The names of gems in policies, and rows of gems with a part of their columns.

use crate::format::Format;
use crate::format::rules::Coordinates;
use crate::policy::package_version::{PackageVersion, Since};
use crate::visible::Row;
use format::gem::dependencies;
use std::borrow::Cow;
use store::{Facts, Outline, State};
use telemetry::Millis;

impl<'a> PackageVersion<'a> {
    /// A version of a gem; an empty number stands for the whole gem.
    pub(crate) fn gem(name: &'a str, number: impl Into<Cow<'a, str>>, since: Since) -> Self {
        Self::new(Format::Gem, Coordinates { package: name.into(), version: number.into() }, since)
    }
}

/// Only gems are read in this form.
impl Row for Outline {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }

    fn coordinates(&self, _: Format) -> Option<PackageVersion<'_>> {
        let number = match &self.facts {
            Facts::Brief(brief) => Cow::Borrowed(dependencies::number(brief)),
            Facts::Whole(facts) => {
                let facts: Option<serde_json::Value> = serde_json::from_str(facts.get()).ok();
                Cow::Owned(facts.and_then(|facts| facts["number"].as_str().map(str::to_owned)).unwrap_or_default())
            }
        };
        Some(PackageVersion::gem(&self.unit, number, Since::Moment(self.origin.unwrap_or(self.published))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::pattern::Pattern;
    use crate::policy::prefix::Prefix;

    #[test]
    fn a_gem_has_a_name_and_a_number() {
        assert_eq!(PackageVersion::gem("rack", "3.0", Since::Always).fields().collect::<Vec<_>>(), ["rack", "3.0"]);
        assert!(Pattern::read("deny", Format::Gem, "a:b:c").unwrap_err().hint().contains("rack"));
    }

    #[test]
    fn names_of_gems_begin_as_text_does() {
        let gem =
            |name| Prefix::read("acme-", Format::Gem).unwrap().begins(&PackageVersion::gem(name, "", Since::Always));
        assert!(gem("acme-lamp") && !gem("acme"));
    }
}
