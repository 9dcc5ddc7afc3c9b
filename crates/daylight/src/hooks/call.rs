//! The URLs of hooks.

/// A hook, by its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The name of the repository.
    pub repository: String,
    /// What the URL says of the change.
    pub says: Says,
}

/// What the URL of a hook says of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Nothing: the body may.
    Any,
    /// Something was published.
    Added,
    /// Something was withdrawn.
    Removed,
}

impl HookCall {
    /// The hook of a path after `/hooks/`. `None`: there is none.
    pub(crate) fn read(segments: &[&str]) -> Option<Self> {
        let (repository, says) = match *segments {
            [repository] => (repository, Says::Any),
            [repository, "add_spec.json"] => (repository, Says::Added),
            [repository, "remove_spec.json"] => (repository, Says::Removed),
            _ => return None,
        };
        Some(Self { repository: repository.to_owned(), says })
    }
}
