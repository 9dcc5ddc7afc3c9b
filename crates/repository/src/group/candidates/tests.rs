//! The order in which members are asked, given the known facts about a folder.

use super::*;
use crate::format::Format;
use crate::record::{RemoteRecord, RepositoryRecord};
use crate::repository::shared::Shared;
use std::collections::BTreeMap;
use store::{FolderPresence, RepositoryId, RepositoryKind};
use telemetry::{Bound, BoundName};

const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";
const BUILD: &str = "org/example/lamp/1.0-SNAPSHOT/lamp-1.0-20260101.120000-1.jar";
const NOW: Millis = Millis(100);

/// This number of remote members, in order.
fn leaves(count: u64, format: Format) -> Vec<Arc<Repository>> {
    let leaf = |number: u64| {
        let record = RepositoryRecord::new(&format!("far-{number}"), format.as_str(), RepositoryKind::Remote, NOW);
        let shared = Arc::new(Shared::new(RepositoryId(number + 1), &Bound::new(BoundName::Indexes, "", 1)));
        turned(RepositoryId(number + 1), record, &format!("http://{number}.example/"), (format, shared))
    };
    (0..count).map(leaf).collect()
}

/// A remote repository whose upstream is at this URL.
fn turned(
    id: RepositoryId,
    mut record: RepositoryRecord,
    url: &str,
    (format, shared): (Format, Arc<Shared>),
) -> Arc<Repository> {
    record.remote = Some(Box::new(RemoteRecord { urls: vec![url.to_owned()], ..RemoteRecord::default() }));
    let stored = Arc::new(record.stored().unwrap());
    Arc::new(Repository::new(id, record, stored, format, shared))
}

/// The known facts about a folder of one member: whether it has any file of it, and which names it lacks until when.
type Known<'a> = (usize, bool, &'a [(&'a str, i64)]);

fn leads(leaves: &[Arc<Repository>], known: &[Known<'_>], path: &str) -> Candidates {
    let names = |names: &[(&str, i64)]| -> BTreeMap<String, i64> {
        names.iter().map(|(name, until)| ((*name).to_owned(), *until)).collect()
    };
    let rows = known.iter().map(|(at, has, missing)| (leaves[*at].origin, *has, names(missing))).collect();
    let folder = FolderPresence::new(rows);
    Candidates::new(
        &leaves.iter().collect::<Vec<_>>(),
        &facts(leaves, &folder),
        vec![None; leaves.len()],
        &leaves[0].file(path),
        NOW,
    )
}

/// What answers so far tell of the folder.
fn facts<'f>(leaves: &[Arc<Repository>], folder: &'f FolderPresence) -> Vec<Option<FolderFact<'f>>> {
    leaves.iter().map(|leaf| folder.upstream(leaf.origin).map(FolderFact::Seen)).collect()
}

#[test]
fn a_map_of_all_files_decides_without_a_call_whether_a_member_has_a_folder() {
    let two = leaves(2, Format::Maven);
    let leaves: Vec<_> = two.iter().collect();
    let pin = |has: bool| {
        let facts = [Some(FolderFact::Mapped(has)), Some(FolderFact::Mapped(true))];
        Candidates::new(&leaves, &facts, vec![None; 2], &two[0].file(JAR), NOW).pin
    };
    assert_eq!((pin(true), pin(false)), (Some(0), Some(1)));
}

#[test]
fn where_nothing_is_known_nobody_is_first_and_nobody_is_left_out() {
    let leads = leads(&leaves(3, Format::Maven), &[], JAR);
    assert_eq!((leads.pin, leads.missing, leads.is_release), (None, vec![None; 3], true));
}

#[test]
fn a_release_is_whose_it_was_first_once_all_before_that_one_were_asked_about_it() {
    let three = leaves(3, Format::Maven);
    let pin = |known: &[Known<'_>]| leads(&three, known, JAR).pin;
    assert_eq!(pin(&[(1, true, &[])]), None, "the first may have it");
    assert_eq!(pin(&[(0, false, &[("lamp-1.0.pom", 1)]), (1, true, &[])]), Some(1), "it lacked the POM, long ago");
    assert_eq!(pin(&[(0, true, &[]), (1, true, &[])]), Some(0));
    assert_eq!(pin(&[(0, false, &[("lamp-1.0.jar", 101)])]), None, "nobody is known to have it");
}

#[test]
fn who_has_a_release_and_lacks_a_file_of_it_is_not_asked_for_that_until_it_may_have_come() {
    let two = leaves(2, Format::Maven);
    let known = |until: i64| leads(&two, &[(0, true, &[("lamp-1.0.jar", until)]), (1, true, &[])], JAR);
    assert_eq!((known(101).pin, known(101).missing), (None, vec![Some(Millis(101)), None]));
    assert_eq!((known(100).pin, known(100).missing), (Some(0), vec![None, None]));
}

#[test]
fn all_else_is_of_the_first_that_was_not_just_proven_to_lack_it() {
    let two = leaves(2, Format::Maven);
    let known = |missing: &[(&str, i64)]| leads(&two, &[(0, false, missing), (1, true, &[])], BUILD);
    let name = BUILD.rsplit('/').next().unwrap();
    assert!(!known(&[]).is_release);
    assert_eq!(known(&[(name, 101)]).pin, Some(1));
    assert_eq!(known(&[(name, 100)]).pin, None, "the first may have it by now");
    assert_eq!(known(&[("lamp-1.0-20260101.120000-1.pom", 101)]).pin, None, "another file is another question");
}

#[test]
fn who_lacks_a_file_of_maven_s_lacks_its_checksum_and_a_raw_one_may_have_it() {
    let missing = |format: Format| {
        let two = leaves(2, format);
        leads(&two, &[(0, false, &[("lamp-1.0.jar", 101)])], &format!("{JAR}.sha1")).missing
    };
    assert_eq!(missing(Format::Maven), [Some(Millis(101)), None]);
    assert_eq!(missing(Format::Raw), [None, None]);
}

#[test]
fn what_a_repository_had_at_another_upstream_is_not_known_of_this_one() {
    let mut two = leaves(2, Format::Maven);
    let before = two[1].clone();
    let kind = (Format::Maven, before.shared.clone());
    two[1] = turned(before.id, before.record.clone(), "http://other.example/", kind);
    let rows = vec![(two[0].origin, false, BTreeMap::new()), (before.origin, true, BTreeMap::new())];
    let folder = FolderPresence::new(rows);
    let leads =
        Candidates::new(&two.iter().collect::<Vec<_>>(), &facts(&two, &folder), vec![None; 2], &two[0].file(JAR), NOW);
    assert_eq!(leads.pin, None);
}

#[test]
fn who_says_that_it_has_nothing_there_is_asked_last_unless_it_was_proven_to_have_something() {
    let two = leaves(2, Format::Maven);
    let leads = |known: &[Known<'_>], path: &str| {
        let rows = known.iter().map(|(at, has, _)| (two[*at].origin, *has, BTreeMap::new())).collect();
        let unlikely = vec![Some(Millis(200)), None];
        let folder = FolderPresence::new(rows);
        let facts = facts(&two, &folder);
        Candidates::new(&two.iter().collect::<Vec<_>>(), &facts, unlikely, &two[0].file(path), NOW)
    };
    for path in [JAR, BUILD] {
        let nothing = leads(&[], path);
        assert_eq!((nothing.pin, &*nothing.unlikely), (None, &[Some(Millis(200)), None][..]), "{path}");
        assert_eq!(leads(&[(1, true, &[])], path).pin, Some(1), "{path}");
        let proven = leads(&[(0, true, &[]), (1, true, &[])], path);
        assert_eq!((proven.pin, &*proven.unlikely), (Some(0), &[None, None][..]), "{path}");
    }
}

#[test]
fn a_file_at_the_root_has_no_folder_and_a_name() {
    let two = leaves(2, Format::Raw);
    let leads = leads(&two, &[(0, false, &[("tool.zip", 101)]), (1, true, &[])], "tool.zip");
    assert_eq!((leads.pin, leads.missing), (Some(1), vec![Some(Millis(101)), None]));
}
