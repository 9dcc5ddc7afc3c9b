//! The names of Maven artifacts in policies.

use crate::format::Format;
use crate::maven::rules::coordinates;
use crate::policy::package_version::{PackageVersion, Since};

impl<'a> PackageVersion<'a> {
    /// A version of an artifact. The group is given as folders; an empty version stands for the whole artifact.
    pub(crate) fn maven(group: &str, artifact: &str, version: &'a str, since: Since) -> Self {
        Self::new(Format::Maven, coordinates(group, artifact, version), since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maven::layout::MavenPath;
    use crate::policy::prefix::Prefix;

    #[test]
    fn files_are_told_by_their_paths_and_documents_are_no_versions() {
        let file = |path: &'static str| MavenPath::read(path).named(Since::Always);
        let jar = file("org/example/lamp/1.0/lamp-1.0.jar.sha1").unwrap();
        assert_eq!((jar.to_string().as_str(), jar.upstream), ("org.example:lamp:1.0", false));
        assert_eq!(jar.fields().collect::<Vec<_>>(), ["org.example", "lamp", "1.0"]);
        assert_eq!(file("org/example/lamp/1.0/other.txt").unwrap().to_string(), "org.example:lamp:1.0");
        assert_eq!(file("org/example/lamp/maven-metadata.xml"), None);
    }

    #[test]
    fn a_group_stands_for_those_below_it_and_not_for_those_that_are_spelt_alike() {
        let begins = |text: &str, group: &str, artifact: &str| {
            Prefix::read(text, Format::Maven).unwrap().begins(&PackageVersion::maven(
                group,
                artifact,
                "",
                Since::Always,
            ))
        };
        assert!(begins("com.example", "com/example", "lamp") && begins("com.example.", "com/example/core", "lamp"));
        assert!(begins("com.example", "com", "example"));
        assert!(!begins("com.example", "com/examples", "lamp") && !begins("com.example", "com", "exam"));
    }
}
