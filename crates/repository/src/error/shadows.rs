//! The refusal of a push whose name an upstream in the same group already lists.

use telemetry::Reason;

/// The name conflict that a push would cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("There was a problem saving your gem: {}", self.text())]
pub struct Shadows {
    /// The name of the gem.
    pub(crate) name: String,
    /// The hosted repository that it was pushed to.
    pub(crate) repository: String,
    /// The group, and its remote member that lists the name; `None`: the caller may not see them.
    pub(crate) seen: Option<(String, String)>,
}

impl Shadows {
    fn text(&self) -> String {
        let Self { name, repository, seen } = self;
        let whose = match seen {
            Some((group, member)) => format!("`{name}` is a gem of the upstream `{member}` in the group `{group}`"),
            None => format!("`{name}` is a gem of an upstream in a group that `{repository}` is a member of"),
        };
        format!("{whose}, and everybody who uses the group would get your gem in its place")
    }

    pub(super) fn hint(&self) -> String {
        let Self { name, repository, seen } = self;
        let group = seen.as_ref().map_or("GROUP", |(group, _)| group);
        format!(
            "publish it under another name, or an administrator decides first: a patched build beside the public versions: \
             `daylight repo set {group} --shared {name}`, with the names that are shared already; if `{repository}` is to own \
             `{name}`, and no public version is to be seen: `daylight repo set {repository} --claim {name}`"
        )
    }

    pub(super) fn reason(&self) -> Reason {
        Reason::Conflict
    }
}
