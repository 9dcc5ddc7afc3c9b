//! The refusal of a change that another repository takes, with that repository.

use crate::audience::Words;
use format::percent::segment;
use repository::{Format, VersionPolicy};
use telemetry::Reason;

/// A change that the repository does not take, and another one does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", self.text(), .place.as_ref().map(|place| format!(": publish to the hosted repository `{}`", place.name)).unwrap_or_default())]
pub struct Elsewhere {
    /// The repository's name.
    pub(crate) name: String,
    pub(crate) refusal: Refusal,
    /// Its format.
    pub(crate) format: Format,
    /// A hosted repository that takes the change, where the caller may know one.
    pub(crate) place: Option<Place>,
}

/// Why the repository does not take the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A group takes no changes.
    Group,
    /// A remote repository takes no changes.
    Remote,
    /// The version policy of a hosted repository refuses the version.
    Version {
        /// The version.
        version: String,
        /// The policy.
        policy: VersionPolicy,
    },
}

/// Where a change is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The repository's name.
    pub(crate) name: String,
    /// Its URL, without a slash at the end.
    pub(crate) url: String,
    /// The path below it that was asked for.
    pub(crate) path: String,
}

/// The remedy for a path that is none of the server's own: often a client was given the server's URL instead of a repository's. It is the
/// same whether or not there is such a repository.
pub(crate) fn below_repositories(path: &str) -> Option<String> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').filter(|segment| !segment.is_empty()).collect();
    match segments[..] {
        ["api", "v1", "gems" | "api_key" | "dependencies" | "search.json" | "versions", ..] | ["api", "v2", ..] => {
            Some("`gem` and Bundler take the URL of a repository: `gem push --host http://HOST/repository/NAME`".into())
        }
        ["repository" | "hooks" | "api" | "health" | "metrics", ..] => None,
        _ => Some("the URL of a repository is `/repository/NAME/` below that of the server".into()),
    }
}

impl Elsewhere {
    fn text(&self) -> String {
        let name = &self.name;
        match &self.refusal {
            Refusal::Group => format!("`{name}` is a group of repositories, which takes no changes"),
            Refusal::Remote => format!("`{name}` is a remote repository, which takes no changes"),
            Refusal::Version { version, policy } => {
                format!("`{name}` takes {} only, and `{version}` is not one", policy.as_str())
            }
        }
    }

    /// The reason, for events and metrics.
    pub(crate) fn reason(&self) -> Reason {
        match self.refusal {
            Refusal::Group | Refusal::Remote => Reason::MethodNotAllowed,
            Refusal::Version { .. } => Reason::VersionRefused,
        }
    }

    /// How the client publishes to the other repository.
    pub(crate) fn hint(&self, words: Words) -> Option<String> {
        let Some(Place { url, path, .. }) = &self.place else {
            return Some("`daylight repo list` shows the hosted repositories, which take changes".into());
        };
        Some(match (self.format, words) {
            (Format::Gem, _) => format!("use this URL: `gem push --host {url}`, `gem yank --host {url}`"),
            (Format::Maven, Words::Maven) => {
                format!(
                    "make this the `<url>` in `<distributionManagement>`: {url}/ (once: -DaltDeploymentRepository=ID::default::{url}/)"
                )
            }
            (Format::Maven | Format::Raw, _) => {
                format!("send the request to {url}/{}", path.split('/').map(segment).collect::<Vec<_>>().join("/"))
            }
        })
    }

    /// The reason phrase.
    pub(crate) fn phrase(&self) -> &'static str {
        match &self.refusal {
            Refusal::Group => "a group takes no uploads; publish to one of its hosted members",
            Refusal::Remote => "a remote repository takes no uploads; publish to a hosted repository",
            Refusal::Version { policy: VersionPolicy::Snapshots, .. } => "this repository takes only snapshots",
            Refusal::Version { .. } => "this repository takes no snapshots",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::below_repositories;

    #[test]
    fn a_path_without_its_repository_gets_the_form_of_the_url() {
        let has = |path: &str, words: &str| below_repositories(path).is_some_and(|hint| hint.contains(words));
        assert!(has("/api/v1/gems", "gem push --host") && has("/api/v1/api_key", "gem push --host"));
        assert!(
            has("/maven/com/acme/lamp/1/lamp-1.pom", "/repository/NAME/") && has("/specs.4.8.gz", "/repository/NAME/")
        );
        for own in ["/api/v1/repository", "/hooks/a", "gems/api/v1/owners", "/repository"] {
            assert_eq!(below_repositories(own), None, "{own}");
        }
    }
}
