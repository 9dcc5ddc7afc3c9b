//! Why a request with a query is refused, in repositories that have it answered by upstreams.

use format::tree;

/// Why a request with a query is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryRefused {
    /// The repository does not keep queries.
    #[error(
        "`{repository}` does not pass queries on to its upstream, and `{path}` may have other bytes for each query"
    )]
    NotKept {
        /// The repository.
        repository: String,
        /// The path without the query.
        path: String,
        /// Whether the repository is a group, whose members have the setting.
        is_group: bool,
    },
    /// The query has a secret, which would become a part of a name that logs and lists show.
    #[error("the query after `{path}` holds a secret, such as a token, a key or a signature")]
    Secret {
        /// The path without the query.
        path: String,
    },
    /// The query cannot be a part of a name.
    #[error("the query after `{path}` is longer than {max} bytes, or has a character that no URL holds", max = tree::LONGEST)]
    Odd {
        /// The path without the query.
        path: String,
    },
}

impl QueryRefused {
    /// The remedy.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotKept { repository, is_group: false, .. } => format!(
                "request it without the query; or `daylight repo set {repository} --query keep` passes queries on and keeps a file for each"
            ),
            Self::NotKept { .. } => {
                "request it without the query; or `daylight repo set MEMBER --query keep` has a remote member of the \
                                     group pass queries on and keep a file for each"
                    .into()
            }
            Self::Secret { .. } => {
                "a query becomes a part of the name of the cached file; an administrator can give the repository \
                                    credentials for its upstream (`--credentials`)"
                    .into()
            }
            Self::Odd { .. } => "escape other characters (`%20`)".into(),
        }
    }
}
