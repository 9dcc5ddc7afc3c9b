//! Names of artifacts (`GROUP:ARTIFACT`), and patterns of them, for commands that choose names of a folder.

use crate::bad_setting::BadSetting;
use crate::format::Format;
use crate::maven::guard;
use crate::policy::pattern::Pattern;

/// A pattern of names: `org.example`, `org.example:lamp`, `org.*`. A pattern of a group also matches the groups below it, as a private
/// prefix does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    exact: Pattern,
    below: Option<Pattern>,
}

impl NamePattern {
    /// Reads the pattern of the flag with this name.
    pub fn read(flag: &str, text: &str) -> Result<Self, BadSetting> {
        let exact = Pattern::read(flag, Format::Maven, text)?;
        let below = (!text.contains(':')).then(|| Pattern::known(&format!("{text}.*")));
        Ok(Self { exact, below })
    }

    /// Whether it matches the name of this folder: `org/example/lamp`.
    pub fn matches(&self, folder: &str) -> bool {
        guard::named(folder).is_some_and(|name| {
            [Some(&self.exact), self.below.as_ref()].into_iter().flatten().any(|one| one.is_about(&name))
        })
    }
}

/// The name of the artifact in a folder; `None`: a folder at the root belongs to no artifact.
pub fn name_of_folder(folder: &str) -> Option<String> {
    guard::named(folder).map(|name| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_the_names_of_folders_and_one_of_a_group_the_groups_below_it() {
        let matches = |pattern, folder| NamePattern::read("--claim", pattern).unwrap().matches(folder);
        assert!(matches("org.example", "org/example/lamp") && matches("org.*:la*", "org/example/lamp"));
        assert!(!matches("org.example:lamp", "org/example/oil") && !matches("org", "org"));
        assert!(matches("org.example", "org/example/house/lamp") && matches("org.ex*", "org/example/house/lamp"));
        assert!(!matches("org.example", "org/examples/lamp") && !matches("org.example:lamp", "org/example/house/lamp"));
        assert_eq!(name_of_folder("org/example/lamp").as_deref(), Some("org.example:lamp"));
    }
}
