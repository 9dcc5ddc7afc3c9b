//! The refusal to publish under a name that a group has from an upstream.

use telemetry::Reason;

/// What would be shadowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("There was a problem saving your gem: {}", self.text())]
pub struct Shadows {
    /// The name of the gem.
    pub(crate) name: String,
    /// The hosted repository that it was pushed to.
    pub(crate) repository: String,
    /// The group, and its member that has the name from an upstream; `None`: not everybody may know them.
    pub(crate) seen: Option<(String, String)>,
}

impl Shadows {
    fn text(&self) -> String {
        let Self { name, repository, seen } = self;
        let whose = match seen {
            Some((group, member)) => format!("`{name}` is a gem of the upstream `{member}` in the group `{group}`"),
            None => format!("`{name}` is a gem of an upstream in a group that `{repository}` is a member of"),
        };
        format!("{whose}, and everybody who uses the group would get yours instead")
    }

    pub(super) fn hint(&self) -> String {
        let Self { name, repository, .. } = self;
        format!(
            "publish it under another name; if `{name}` is to be that of `{repository}` alone, an administrator says so first: \
             `daylight repo set {repository} --claim {name}`"
        )
    }

    pub(super) fn reason(&self) -> Reason {
        Reason::Conflict
    }
}
