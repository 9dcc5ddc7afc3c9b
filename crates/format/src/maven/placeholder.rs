//! Versions that stand for others: an expression that a build did not resolve, a version that Maven resolves itself, or a range.

/// The versions that Maven resolves to others (`org.apache.maven.artifact.Artifact`).
const META: [&str; 2] = ["LATEST", "RELEASE"];

/// Whether a version of a path is none that a client could ask for: `${revision}`, `LATEST`, `RELEASE`, `[1.0,2.0)`.
pub fn is_placeholder(version: &str) -> bool {
    META.contains(&version) || is_range(version) || is_unresolved(version)
}

/// Whether a name in a path has an expression that a build did not resolve.
pub fn is_unresolved(name: &str) -> bool {
    name.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
}

/// A range begins with a bracket (`org.eclipse.aether.util.version.GenericVersionScheme`).
fn is_range(version: &str) -> bool {
    version.starts_with(['[', '('])
}

#[cfg(test)]
mod tests {
    use super::{is_placeholder, is_unresolved};

    #[test]
    fn versions_that_stand_for_others_are_told_from_versions() {
        for version in ["${revision}", "1.0-${sha1}", "${project.version}-SNAPSHOT", "LATEST", "RELEASE", "[1.0,2.0)"] {
            assert!(is_placeholder(version), "{version}");
        }
        for version in ["(,1.0]", "[1.0]"] {
            assert!(is_placeholder(version), "{version}");
        }
        for version in ["1.0", "latest", "Greenwich.RELEASE", "RELEASE-802", "1.0$", "$}{", "unspecified", "2.0-{x}"] {
            assert!(!is_placeholder(version), "{version}");
        }
        assert!(is_unresolved("lamp-${revision}") && !is_unresolved("lamp-1.0"));
    }
}
