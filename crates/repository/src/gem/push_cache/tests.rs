//! A state summarises the versions of a gem, and gives no answer if the rows have to be read.

use super::*;
use crate::format::Format;
use crate::gem::info_lines::{info_line, render_info};
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
