//! The names that groups ask no upstream for since an import, and the commands that undo it.

use crate::cli::failure::plain;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many names are printed; where there are more, their groups.
const SHOWN: usize = 10;

/// A group that asks no upstream for a name once the repository has it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ClosedIn {
    /// The group; `None`: the caller may not know it.
    pub(super) group: Option<String>,
    /// What undoes it.
    pub(super) command: Option<String>,
}

/// The names that were imported first now, of one group.
#[derive(Debug, Serialize)]
pub(super) struct Closed {
    /// The group; `None`: the caller may not know it.
    pub(super) group: Option<String>,
    /// The names.
    pub(super) names: BTreeSet<String>,
    /// What undoes it for the first name.
    pub(super) command: Option<String>,
}

impl Closed {
    /// The notice for the caller of the import.
    pub(super) fn notice(&self) -> String {
        let group = match &self.group {
            Some(group) => format!("the group `{group}` now asks"),
            None => "a group now asks".to_owned(),
        };
        let names = listed(self.names.iter().map(String::as_str), usize::MAX);
        let undone = match &self.command {
            Some(command) if self.names.len() == 1 => format!("`{command}` has it asked again"),
            Some(command) => format!("have it asked again, as with `{command}`"),
            None => "an administrator can have it asked again".to_owned(),
        };
        format!("{group} no upstream for: {names}\n  if others have such a name, too, {undone}")
    }
}

/// Names for people; where they are many, their groups, of which `most` are named.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone, most: usize) -> String {
    if names.clone().count() <= SHOWN {
        return names.map(plain).collect::<Vec<_>>().join(", ");
    }
    let mut groups = BTreeMap::<&str, usize>::new();
    for name in names {
        *groups.entry(name.split(':').next().unwrap_or(name)).or_default() += 1;
    }
    let shown: Vec<String> =
        groups.iter().take(most).map(|(group, many)| format!("{} ({many})", plain(group))).collect();
    let more = match groups.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more groups"),
    };
    format!("{}{more} (`--json` has the names)", shown.join(", "))
}
