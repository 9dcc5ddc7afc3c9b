//! Compares every read of two catalogs.

use crate::truth::suite::outlines;
use crate::{Catalog, Change, RepositoryId, Seq, Span};
use telemetry::Millis;

/// Compares every read.
pub(crate) fn assert_same(one: &mut impl Catalog, other: &mut impl Catalog) {
    assert_eq!(one.last().unwrap(), other.last().unwrap());
    assert_eq!(one.repositories().unwrap(), other.repositories().unwrap());
    assert_eq!(one.repositories_at().unwrap(), other.repositories_at().unwrap());
    assert_eq!(one.last_moment().unwrap(), other.last_moment().unwrap());
    assert_eq!(one.tokens().unwrap(), other.tokens().unwrap());
    assert_eq!(one.first_seen_bytes().unwrap(), other.first_seen_bytes().unwrap());
    let journal = one.journal(Seq(0), usize::MAX >> 1).unwrap();
    assert_eq!(
        one.dated_journal(Seq(0), usize::MAX >> 1).unwrap(),
        other.dated_journal(Seq(0), usize::MAX >> 1).unwrap()
    );
    assert_eq!(journal, other.journal(Seq(0), usize::MAX >> 1).unwrap());
    for (limit, max_bytes) in [(usize::MAX >> 1, usize::MAX), (2, usize::MAX), (9, 1), (9, 1000)] {
        let text = |catalog: &mut dyn Catalog| catalog.journal_text(Seq(1), limit, max_bytes).unwrap();
        assert_eq!(text(one), text(other));
    }
    assert_eq!(one.holdings().unwrap(), other.holdings().unwrap());
    assert_eq!(one.blob_count().unwrap(), other.blob_count().unwrap());
    let (first, last) = (crate::Digest([0; 32]), crate::Digest([255; 32]));
    assert_eq!(one.blob_uses(&first, &last).unwrap(), other.blob_uses(&first, &last).unwrap());
    let [known, unknown] = [b"a-1", b"a-9"].map(|bytes| crate::Hashes::of(bytes).sha256);
    assert_eq!(one.generations(&first, &last).unwrap(), other.generations(&first, &last).unwrap());
    for digest in [known, unknown] {
        assert_eq!(one.generation(&digest).unwrap(), other.generation(&digest).unwrap());
        assert_eq!(one.blob_size(&digest).unwrap(), other.blob_size(&digest).unwrap());
        assert_eq!(one.refers_to_blob(&digest).unwrap(), other.refers_to_blob(&digest).unwrap());
        assert_eq!(one.named_by(&digest).unwrap(), other.named_by(&digest).unwrap());
    }
    for limit in [1, 1000] {
        assert_eq!(one.blobs(None, limit).unwrap(), other.blobs(None, limit).unwrap());
        for id in (0..8).map(RepositoryId) {
            assert_eq!(one.keys(id, "a", limit).unwrap(), other.keys(id, "a", limit).unwrap());
            assert_eq!(one.units(id, "", limit).unwrap(), other.units(id, "", limit).unwrap());
            assert_eq!(one.units_ever(id, "", limit).unwrap(), other.units_ever(id, "", limit).unwrap());
            assert_eq!(one.lines(id, Seq(2), limit).unwrap(), other.lines(id, Seq(2), limit).unwrap());
            assert_eq!(
                one.units_with_facts(id, "", "a", limit).unwrap(),
                other.units_with_facts(id, "", "a", limit).unwrap()
            );
            let span = Span { from: Millis(97), until: Millis(99), skip: limit / 500, limit };
            assert_eq!(one.published(id, span).unwrap(), other.published(id, span).unwrap());
            assert_eq!(one.entries(id, "", "é").unwrap(), other.entries(id, "", "é").unwrap());
            for prefix in ["", "a", "a/", "é-"] {
                for after in ["", "a-", "é"] {
                    assert_eq!(
                        one.entries_beginning(id, prefix, after, limit).unwrap(),
                        other.entries_beginning(id, prefix, after, limit).unwrap()
                    );
                    assert_eq!(
                        one.live_entries_beginning(id, prefix, after, limit).unwrap(),
                        other.live_entries_beginning(id, prefix, after, limit).unwrap()
                    );
                }
            }
        }
    }
    for row in &journal {
        match &row.change {
            Change::Entry { repository, entry } => {
                assert_eq!(one.unit(*repository, &entry.unit).unwrap(), other.unit(*repository, &entry.unit).unwrap());
                assert_eq!(outlines(one, *repository, &entry.unit), outlines(other, *repository, &entry.unit));
                assert_eq!(one.entry(*repository, &entry.key).unwrap(), other.entry(*repository, &entry.key).unwrap());
                let (key, unit) = (entry.key.to_ascii_uppercase(), entry.unit.to_ascii_uppercase());
                let like = |catalog: &mut dyn Catalog| catalog.entry_in_any_case(*repository, &key).unwrap();
                assert_eq!(like(one), like(other));
                let like = |catalog: &mut dyn Catalog| catalog.unit_in_other_case(*repository, &unit).unwrap();
                assert_eq!(like(one), like(other));
            }
            Change::Unit { repository, unit, .. } => {
                assert_eq!(one.facts(*repository, unit).unwrap(), other.facts(*repository, unit).unwrap());
            }
            Change::FirstSeen { repository, unit, .. } => {
                for through in [Seq(0), row.seq, Seq(u64::MAX >> 1)] {
                    let seen = |catalog: &mut dyn Catalog| -> Vec<_> {
                        let rows = catalog.first_seen(*repository, unit, through).unwrap();
                        rows.into_iter().map(|row| (row.seq, row.at, row.seen.get().to_owned())).collect()
                    };
                    assert_eq!(seen(one), seen(other));
                }
            }
            Change::Setting { key, .. } => assert_eq!(one.setting(key).unwrap(), other.setting(key).unwrap()),
            Change::Collected { blobs } => {
                for digest in blobs {
                    assert_eq!(one.collected(digest).unwrap(), other.collected(digest).unwrap());
                }
            }
            Change::Repository { .. } | Change::Token { .. } | Change::Redate { .. } => {}
        }
    }
}
