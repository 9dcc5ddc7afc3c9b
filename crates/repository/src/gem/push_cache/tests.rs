//! A state summarises the versions of a gem, and gives no answer if the rows have to be read.

use super::*;
use crate::format::Format;
use crate::gem::info_lines::{info_line, render_info, versions_line};
use crate::record::RepositoryRecord;
use crate::repository::shared::Shared;
use proptest::prelude::*;
use serde_json::json;
use store::{Digest, Entry, Hashes, RepositoryKind, State};

const ID: RepositoryId = RepositoryId(1);

fn repository(info_format: Option<&str>) -> Repository {
    let info_format = info_format.map(str::to_owned);
    let record =
        RepositoryRecord { info_format, ..RepositoryRecord::new("gems", "gem", RepositoryKind::Hosted, Millis(0)) };
    let shared = Arc::new(Shared::new(ID, &Bound::new(BoundName::Indexes, "", 0)));
    let stored = Arc::new(record.stored().unwrap());
    Repository::new(ID, record, stored, Format::Gem, shared)
}

fn package(number: &str, platform: &str) -> Package {
    let facts = json!({
        "v": 1, "name": "lamp", "number": number, "platform": platform, "authors": [], "summary": "", "specification_version": 4
    });
    serde_json::from_value(facts).unwrap()
}

fn hashes() -> Hashes {
    Hashes { sha256: Digest([7; 32]), sha512: None, sha1: String::new(), md5: None, size_bytes: 0 }
}

fn entry(package: &Package, at: i64, state: State) -> Entry {
    let facts = serde_json::to_value(package).unwrap();
    Entry { state, facts, ..Entry::live("lamp".into(), package.full_name(), hashes(), Millis(at)) }
}

fn gem_state(repository: &Repository, entries: Vec<Entry>) -> GemState {
    GemState::of(&UnitRows { seq: Seq(9), entries }, repository, Millis(i64::MAX)).unwrap()
}

#[test]
fn a_head_is_only_for_a_version_that_is_new_and_comes_last_in_the_form_that_is_set() {
    let (usual, other) = (repository(None), repository(Some("v1")));
    let entries = [("1.0.0", "ruby", State::Live), ("1.2", "java", State::Withdrawn)];
    let entries = entries.map(|(number, platform, state)| entry(&package(number, platform), 10, state));
    let push_cache = PushCache::new(1 << 20);
    let known = |repository, number, platform| push_cache.for_push(repository, &package(number, platform)).is_some();
    assert!(!known(&usual, "2.0", "ruby"), "nothing is known yet");
    push_cache.put(ID, "lamp", gem_state(&usual, entries.into()));
    assert!(known(&usual, "2.0", "ruby") && known(&usual, "1.0", "java") && known(&usual, "1.2", "ruby"));
    // The same version in any spelling, published or not.
    assert!(!known(&usual, "1.0.0", "ruby") && !known(&usual, "1.0", "ruby") && !known(&usual, "1.2.0", "java"));
    let state = push_cache.for_push(&usual, &package("2.0", "ruby")).unwrap();
    let moment = |number, now| state.moment_of_next(&package(number, "ruby"), Millis(now)).map(|at| at.0);
    let moments =
        [("2.0", 9), ("2.0", 8), ("0.9", 10), ("0.9", 8), ("2.0", 20)].map(|(number, now)| moment(number, now));
    assert_eq!(moments, [Some(10), None, Some(11), None, Some(20)]);
    assert!(!known(&other, "2.0", "ruby"), "in another form");
    push_cache.forget(ID, "lamp");
    assert!(!known(&usual, "2.0", "ruby"));
}

#[test]
fn an_older_head_never_replaces_a_newer_one() {
    let (usual, push_cache) = (repository(None), PushCache::new(1 << 20));
    let at = |seq| gem_state(&usual, Vec::new()).made_by(Seq(seq));
    for seq in [5, 7, 6] {
        push_cache.put(ID, "lamp", at(seq));
    }
    assert_eq!(push_cache.for_push(&usual, &package("1.0", "ruby")).unwrap().seq, Seq(7));
    assert!(push_cache.bound().used() > 0);
}

/// The rows of another process that pushes a version which becomes the last one.
fn pushed(state: &GemState, seq: u64, number: &str, at: i64) -> JournalRow {
    let package = package(number, "ruby");
    let entry = entry(&package, at, State::Live);
    let line = info_line(&package, &hashes(), Millis(at), state.format);
    let line = Some(versions_line(&package, &state.after(&package, Millis(at), &line).md5()));
    row(seq, Change::Entry { repository: ID, entry: Entry { line, ..entry } })
}

fn row(seq: u64, change: Change) -> JournalRow {
    JournalRow { v: JournalRow::VERSION, seq: Seq(seq), at: Millis(1), by: "ci".into(), from: "cli".into(), change }
}

#[test]
fn pushes_of_another_process_move_a_state_on_and_other_changes_end_it() {
    let (usual, push_cache) = (repository(None), PushCache::new(1 << 20));
    let versions = ["1.0", "1.1"].map(|number| entry(&package(number, "ruby"), 10, State::Live));
    let start = gem_state(&usual, versions.to_vec());
    let known = |number| push_cache.for_push(&usual, &package(number, "ruby"));
    let begin = || push_cache.put(ID, "lamp", start.clone());
    let owners = Change::Unit { repository: ID, unit: "lamp".into(), facts: json!({}) };

    push_cache.follow(&[pushed(&start, 10, "2.0", 20)]);
    assert!(known("3.0").is_none(), "an unknown gem stays unknown");
    begin();
    let first = pushed(&start, 10, "2.0", 20);
    push_cache.follow(&[first.clone(), row(11, owners.clone())]);
    let moved = known("3.0").unwrap();
    let all: Vec<Entry> = versions.iter().cloned().chain([entry(&package("2.0", "ruby"), 20, State::Live)]).collect();
    assert_eq!((moved.seq, moved.md5()), (Seq(11), gem_state(&usual, all).md5()));
    assert!(known("2.0").is_none(), "it is published by now");
    push_cache.follow(&[first]);
    assert_eq!(known("3.0").unwrap().seq, Seq(11), "an earlier change again");
    push_cache.forget_through(ID, "lamp", Seq(10));
    assert!(known("3.0").is_some(), "a push that lost against it continues from it");

    // A change of this process that the state does not have yet came before these.
    let between = (*moved).clone().made_by(Seq(12));
    for missed in [pushed(&between.after(&package("2.5", "ruby"), Millis(30), "x"), 13, "2.6", 31), row(13, owners)] {
        push_cache.follow(&[missed]);
        assert!(known("3.0").is_none());
        push_cache.put(ID, "lamp", (*moved).clone());
    }
    // A yank, a line in the middle, and a version whose facts cannot be read.
    let gone = entry(&package("2.0", "ruby"), 20, State::Withdrawn);
    let middle = pushed(&moved, 12, "1.5", 15);
    let odd = Entry { facts: json!(1), ..entry(&package("4.0", "ruby"), 40, State::Live) };
    for other in [
        row(12, Change::Entry { repository: ID, entry: gone }),
        middle,
        row(12, Change::Entry { repository: ID, entry: odd }),
    ] {
        push_cache.follow(&[other]);
        assert!(known("3.0").is_none());
        push_cache.put(ID, "lamp", (*moved).clone());
    }
}

proptest! {
    #[test]
    fn what_pushes_make_of_a_head_is_what_reading_all_versions_makes(
        versions in proptest::collection::vec((0_u8..20, any::<bool>(), any::<bool>()), 0..12),
        read_at in 0_usize..12,
        form in prop::option::of(Just("v1")),
    ) {
        let repository = repository(form);
        let mut entries: Vec<Entry> = Vec::new();
        let mut kept = gem_state(&repository, Vec::new());
        for (at, (number, java, live)) in versions.into_iter().enumerate() {
            let package = package(&format!("1.{number}"), if java { "java" } else { "ruby" });
            let moment = Millis(at as i64);
            if at <= read_at {
                // Withdrawn versions are known only from the rows.
                let state = if live { State::Live } else { State::Withdrawn };
                entries.push(entry(&package, moment.0, state));
                kept = gem_state(&repository, entries.clone());
                continue;
            }
            let line = info_line(&package, &hashes(), moment, repository.info_format());
            kept = kept.after(&package, moment, &line);
            entries.push(entry(&package, moment.0, State::Live));
            let read = gem_state(&repository, entries.clone());
            let seen = visible(&entries, repository.view(moment));
            let body = render_info(seen, repository.info_format()).unwrap();
            prop_assert_eq!(kept.md5(), info::md5_hex(&body));
            prop_assert_eq!((kept.md5(), &kept.last), (read.md5(), &read.last));
            let mut held = read.held;
            held.dedup();
            kept.held.dedup();
            prop_assert_eq!(&kept.held, &held);
        }
    }
}
