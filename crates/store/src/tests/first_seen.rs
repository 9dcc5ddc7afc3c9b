//! First-seen rows of upstreams and their budget.

use super::{job, options};
use crate::truth::suite::{R, batch, made, refused, repository};
use crate::{Catalog, Change, Expect, Seq, Store, StoreOptions, rebuild};
use serde_json::json;

fn seen(unit: &str, versions: &[String]) -> Change {
    Change::FirstSeen {
        repository: R,
        unit: unit.into(),
        whole: false,
        uncounted: false,
        seen: json!({ "versions": versions }),
    }
}

pub(crate) fn first_seen_rows_add_up_and_are_read_as_of_each_change(mut catalog: impl Catalog) {
    let row = |unit: &str, version: &str| seen(unit, &[version.to_owned()]);
    made(&mut catalog, vec![repository(0, "far", &[], false), row("a", "1"), row("b", "1"), row("a", "2")]);
    let told = |catalog: &mut dyn Catalog, unit: &str, through: u64| -> Vec<(u64, String)> {
        let rows = catalog.first_seen(R, unit, Seq(through)).unwrap();
        rows.into_iter().map(|row| (row.seq.0, row.seen.get().to_owned())).collect()
    };
    let (one, two) = ((2, r#"{"versions":["1"]}"#.to_owned()), (4, r#"{"versions":["2"]}"#.to_owned()));
    assert_eq!(told(&mut catalog, "a", 99), [one.clone(), two]);
    assert_eq!(told(&mut catalog, "a", 3), [one]);
    assert_eq!((told(&mut catalog, "a", 1), told(&mut catalog, "c", 99)), (vec![], vec![]));
    let at = |seq| Expect::FirstSeenAt { repository: R, unit: "a".into(), seq: Seq(seq) };
    assert!(refused(&mut catalog, at(2)) && !refused(&mut catalog, at(4)));
    assert!(catalog.units_ever(R, "", 9).unwrap().is_empty(), "no row of it belongs to this repository");
    let everything = json!({ "versions": ["1", "2"] });
    let whole = Change::FirstSeen { repository: R, unit: "a".into(), whole: true, uncounted: false, seen: everything };
    made(&mut catalog, vec![whole, row("a", "3")]);
    let (three, four) = ((6, r#"{"versions":["1","2"]}"#.to_owned()), (7, r#"{"versions":["3"]}"#.to_owned()));
    assert_eq!(told(&mut catalog, "a", 99), [three, four], "no row before the complete one");
    assert_eq!(told(&mut catalog, "a", 5).len(), 2);
    let bytes = catalog.first_seen_bytes().unwrap();
    assert!(matches!(bytes[..], [(R, 300..2000)]), "{bytes:?}");
    let seen = json!({ "versions": ["4"] });
    made(
        &mut catalog,
        vec![Change::FirstSeen { repository: R, unit: "a".into(), whole: false, uncounted: true, seen }],
    );
    assert_eq!(catalog.first_seen_bytes().unwrap(), bytes, "it does not count in the budget");
}

#[tokio::test]
async fn a_budget_is_what_the_rows_take_and_is_the_same_after_a_rebuild() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let options = StoreOptions { first_seen_max_bytes: 256 << 10, ..options(folder.path()) };
        let bounds = options.recorder.clone();
        let store = Store::open(options).unwrap();
        let used =
            bounds.bounds().iter().find(|bound| bound.name() == telemetry::BoundName::FirstSeen).unwrap().clone();
        (store, used)
    };
    let (store, used) = open();
    store.commit(batch(vec![], vec![repository(0, "far", &[], false)]), &mut job()).await.unwrap();
    store.close();
    let size = || -> u64 {
        let segments = std::fs::read_dir(folder.path().join("segments")).unwrap().map(|entry| entry.unwrap().path());
        let files = segments.chain([folder.path().join("truth.sqlite")]);
        files.map(|file| file.metadata().unwrap().len()).sum()
    };
    assert_eq!(used.used(), 0);
    let empty = size();
    let (store, used) = open();
    let mut rows = 0;
    let versions = |row: u32| (0..row % 60).map(|number| format!("1.{row}.{number}")).collect::<Vec<_>>();
    while store.admit_first_seen(R, "org/example/lamp//seen/0", 500, false).is_some() {
        store
            .commit(batch(vec![], vec![seen(&format!("org/example/lamp{rows}//seen/0"), &versions(rows))]), &mut job())
            .await
            .unwrap();
        rows += 1;
    }
    let (counted, refused) = (used.used(), used.rejected());
    store.close();
    let taken = size() - empty;
    assert_eq!(refused, 1);
    assert!(counted <= 256 << 10 && taken.abs_diff(counted) < counted / 4, "{counted} were counted and {taken} taken");
    rebuild(folder.path(), &mut |_| ()).unwrap();
    let (store, used) = open();
    assert_eq!(used.used(), counted);
    assert_eq!(store.first_seen(R, "org/example/lamp9//seen/0", None, |rows| rows.len(), &mut job()).await.unwrap(), 1);
}
