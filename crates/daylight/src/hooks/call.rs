//! The URLs of hooks.

/// A hook, by its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// The name of the repository.
    pub repository: String,
    /// The kind of change in the URL.
    pub kind: HookKind,
}

/// The kind of change in the URL of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookKind {
    /// Unknown: the body may have it.
    Any,
    /// Something was published.
    Added,
    /// Something was withdrawn.
    Removed,
}

impl HookCall {
    /// Reads a path after `/hooks/`. `None`: it is not the URL of a hook.
    pub(crate) fn read(segments: &[&str]) -> Option<Self> {
        let (repository, kind) = match *segments {
            [repository] => (repository, HookKind::Any),
            [repository, "add_spec.json"] => (repository, HookKind::Added),
            [repository, "remove_spec.json"] => (repository, HookKind::Removed),
            _ => return None,
        };
        Some(Self { repository: repository.to_owned(), kind })
    }
}
