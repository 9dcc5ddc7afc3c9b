//! The versions of hosted members that a change of a group's settings hides, and the words for them.

use crate::policy::hidden::span;

/// The most versions that are named.
pub(crate) const NAMED: usize = 10;

/// What a change of settings hides of the hosted members of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenHosted {
    /// The hosted members whose versions get stricter rules.
    pub members: Vec<String>,
    /// The remote members of the same groups, which the rules may be set on instead.
    pub remotes: Vec<String>,
    /// How many versions (of raw repositories: files) are visible now and would be hidden.
    pub versions: u64,
    /// The first of them: `lamp:1.1.0`.
    pub named: Vec<String>,
    /// The new cooldown, in milliseconds, if versions have to wait longer. Then later versions are hidden, too.
    pub cooldown_ms: Option<i64>,
}

impl HiddenHosted {
    /// The versions in words.
    pub fn describe(&self) -> String {
        let Self { versions, named, cooldown_ms, .. } = self;
        let names = match (named.len() as u64, *versions) {
            (0, _) => String::new(),
            (shown, all) => format!(" ({}{})", named.join(", "), if shown < all { ", ..." } else { "" }),
        };
        let is = if *versions == 1 { "version of hosted members is" } else { "versions of hosted members are" };
        let now = format!("{versions} {is} hidden at once{names}");
        match cooldown_ms {
            None => now,
            Some(cooldown) => format!("{now}, and each new one until it is {} old", span(*cooldown)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_the_names_and_the_later_versions_are_told() {
        let named: Vec<String> = (0..NAMED).map(|minor| format!("lamp:1.{minor}")).collect();
        let told = |versions, named: &[String], cooldown_ms| {
            HiddenHosted { versions, named: named.to_vec(), cooldown_ms, ..HiddenHosted::default() }.describe()
        };
        assert_eq!(told(1, &named[..1], None), "1 version of hosted members is hidden at once (lamp:1.0)");
        assert!(told(11, &named, None).ends_with("lamp:1.9, ...)"));
        let week = Some(7 * 86_400_000);
        assert_eq!(
            told(0, &[], week),
            "0 versions of hosted members are hidden at once, and each new one until it is 7 days old"
        );
    }
}
