//! The first two names of all folders of a hosted tree. A group asks each hosted member for every file of a build, and
//! most of these files belong to other organisations. This index answers such requests from memory, with one lookup for
//! each member.

use crate::error::Result;
use crate::tree::inventory::Inventory;
use crate::tree::inventory::NAMES;
use std::collections::BTreeSet;
use store::{RepositoryId, Store, Unit, UnitFilter};
use telemetry::{Event, Millis};

/// Facts about a whole repository are stored among those about folders, under a name that no folder can have.
const ALL: &str = "//";

/// The first two names of a folder, usually those of an organisation; `None`: it has fewer.
fn beginning(folder: &str) -> Option<&str> {
    let (first, rest) = folder.split_once('/')?;
    let second = rest.find('/').unwrap_or(rest.len());
    Some(&folder[..first.len() + 1 + second])
}

/// The first key after all folders with this prefix. A folder that equals the prefix sorts before the others.
pub(crate) fn behind(folder: &str) -> String {
    match beginning(folder).filter(|beginning| beginning.len() < folder.len()) {
        Some(beginning) => format!("{beginning}/{}", char::MAX),
        None => folder.to_owned(),
    }
}

/// Whether no folder of a hosted tree ever had the same prefix. `false` is no statement.
pub(crate) async fn lacks(
    store: &Store,
    inventory: &Inventory,
    id: RepositoryId,
    folder: &str,
    now: Millis,
    event: &mut Event,
) -> Result<bool> {
    let Some(begins) = beginning(folder) else { return Ok(false) };
    let revisions = store.revisions();
    let said = || inventory.ask(id, ALL, begins, |stamp| revisions.holds(stamp, now)).known();
    if let Some(perhaps) = said() {
        return Ok(!perhaps);
    }
    let stamp = revisions.stamp([Unit::All(id)], Millis(i64::MAX)); // before the work
    let before = event.runs_so_far();
    let found = store.first_of_each_kind(id, UnitFilter::Ever, "", behind, NAMES + 1, event).await?;
    // If there are too many prefixes, none is stored.
    let all: BTreeSet<&str> = match found.len() {
        ..=NAMES => found.iter().filter_map(|folder| beginning(folder)).collect(),
        _ => found.iter().map(String::as_str).collect(),
    };
    inventory.keep(id, ALL, all.into_iter(), stamp);
    let lacks = said() == Some(false);
    if !lacks {
        event.was_vain_since(&before);
    }
    Ok(lacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_begin_with_two_names_and_what_begins_alike_is_passed_over() {
        for (folder, begins, passed) in [
            ("", None, ""),
            ("org", None, "org"),
            ("org/example", Some("org/example"), "org/example"),
            ("org/example/lamp/1.0", Some("org/example"), "org/example/\u{10ffff}"),
        ] {
            assert_eq!((beginning(folder), behind(folder)), (begins, passed.to_owned()), "{folder}");
        }
    }
}
