//! The command that gives a name of a tree back to the upstreams of a group.

use crate::group::kept_names::has_upstream;
use crate::policy::share_command::share_command;
use crate::repository::Repository;
use crate::tree::facts::Guarded;

/// The name of a folder or a path, and the command that has upstreams asked for it; `None`: they are asked, or never will be.
pub(crate) fn gives_back(group: &Repository, name: &str) -> Option<(String, Vec<String>)> {
    let what = group.file(name).guarded_name(Guarded::Folder(name))?.upstream();
    let is_kept =
        |leaf: &Repository| has_upstream(leaf) && !leaf.rules.shares(&what) && leaf.rules.private(&what).is_none();
    let command = || share_command(&group.record, &what.to_string());
    group.leaves.iter().any(|leaf| is_kept(leaf)).then(|| (what.to_string(), vec![command()]))
}
