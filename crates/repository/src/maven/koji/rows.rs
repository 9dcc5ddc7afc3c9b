//! The rows of the journal that a map is made of: one for each build, and others for the tags that it is in.
//!
//! They are first-seen rows of one unit, and one look writes all of its rows in one commit. A build with many files has
//! several rows, so that the digest of a file is found by a small read.

mod form;
mod small;
pub(crate) mod told;

use crate::error::{Error, Result};
use crate::maven::koji::change::{Change, MappedFile};
use crate::maven::koji::map::apply::{Committed, NextMap};
use crate::maven::koji::map::{FoundDigest, FoundFile, KojiMap};
use crate::maven::koji::rows::form::{Decoded, KojiRow, encode, lean};
use crate::upstream::Remote;
use crate::upstream::first_seen::followed_rows::FollowedRow;
use crate::upstream::first_seen::record::{NewRows, Wrote, write_all};
use crate::upstream::first_seen::store::FirstSeenStore;
use serde::de::Error as _;
use std::sync::Arc;
use store::{Lane, Seq};
use telemetry::{Event, Millis, Op};

/// The unit of these rows.
pub(crate) fn unit(remote: &Remote) -> String {
    FirstSeenStore::of(remote).units.unit(told::UNIT)
}

fn unreadable(remote: &Remote) -> impl FnOnce(serde_json::Error) -> Error + use<> {
    let key = unit(remote);
    move |source| Error::Unreadable { key, source }
}

/// Changes that are in the journal now, or are not.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) changes: Vec<Change>,
    /// `None`: the budget of the repository is used up.
    pub(crate) committed: Option<Committed>,
}

/// Writes the changes of one look that follow on this map.
///
/// # Errors
///
/// [`Error::GivenUp`] if the journal has rows that the map lacks, or the repository was removed.
pub(crate) async fn write(
    remote: &Remote,
    map: &Arc<KojiMap>,
    changes: Vec<Change>,
    event: &mut Event,
) -> Result<Written> {
    let before = map.clone();
    let made = move |(): &mut ()| {
        let changes = lean(&before, changes);
        encode(&changes).map(|encoded| (changes, encoded))
    };
    let made = remote.remotes.workers.run(Lane::Index, Op::KojiApply, event, made).await?;
    let (changes, encoded) = made.map_err(unreadable(remote))?;
    let (count, rows) = (encoded.rows.len() as u64, encoded.rows.into_iter().map(|row| (row, false)).collect());
    match write_all(remote, vec![NewRows { unit: unit(remote), last: map.last(), rows }], event).await? {
        Wrote::Rows(at, seq) => {
            let first = Seq(seq.0.saturating_sub(count) + 1);
            let builds = encoded.builds.into_iter().map(|rows| rows.from(first)).collect();
            Ok(Written { changes, committed: Some(Committed { at, seq, builds }) })
        }
        Wrote::Full => Ok(Written { changes, committed: None }),
        Wrote::Behind | Wrote::Removed => Err(Error::GivenUp),
    }
}

/// The map that the rows of the repository's upstream add up to.
pub(crate) async fn read(remote: &Remote, event: &mut Event) -> Result<KojiMap> {
    let parse = |rows: Vec<store::FirstSeen>| -> Result<Vec<Decoded>, serde_json::Error> {
        let mut decoded: Vec<Decoded> = Vec::new();
        for row in rows {
            add(&mut decoded, row.seq, row.at, serde_json::from_str(row.seen.get())?)?;
        }
        Ok(decoded)
    };
    let store = &remote.remotes.store;
    let read = store.first_seen(remote.repository.id, &unit(remote), None, parse, event).await?;
    let decoded = read.map_err(unreadable(remote))?;
    let make = move |(): &mut ()| replay(decoded);
    Ok(remote.remotes.workers.run(Lane::Index, Op::KojiApply, event, make).await?)
}

/// Rows of other nodes that follow on a map, as the changes of whole looks. `rows`: `None`, if the journal has to be read for them. The rows of
/// a look whose last row is not here yet are left over.
pub(crate) async fn of_others(
    remote: &Remote,
    map: &KojiMap,
    rows: Option<Vec<FollowedRow>>,
    event: &mut Event,
) -> Result<(Vec<(Vec<Change>, Committed)>, Vec<FollowedRow>)> {
    let mut rows = match rows {
        Some(rows) => rows,
        None => in_journal(remote, event).await?,
    };
    rows.retain(|row| row.seq > map.last());
    let whole = rows.iter().rposition(|row| !form::goes_on(&row.seen)).map_or(0, |last| last + 1);
    let rest = rows.split_off(whole);
    let decode = move |(): &mut ()| {
        let mut decoded: Vec<Decoded> = Vec::new();
        for FollowedRow { seq, at, seen } in rows {
            add(&mut decoded, seq, at, serde_json::from_value(seen)?)?;
        }
        Ok(decoded.into_iter().map(|of| (of.changes, of.committed)).collect())
    };
    let decoded: Result<_, serde_json::Error> =
        remote.remotes.workers.run(Lane::Index, Op::KojiApply, event, decode).await?;
    Ok((decoded.map_err(unreadable(remote))?, rest))
}

/// All rows of the repository's upstream.
async fn in_journal(remote: &Remote, event: &mut Event) -> Result<Vec<FollowedRow>> {
    let parse = |rows: Vec<store::FirstSeen>| -> Result<Vec<FollowedRow>, serde_json::Error> {
        let parse = |row: store::FirstSeen| {
            Ok(FollowedRow { seq: row.seq, at: row.at, seen: serde_json::from_str(row.seen.get())? })
        };
        rows.into_iter().map(parse).collect()
    };
    let store = &remote.remotes.store;
    let read = store.first_seen(remote.repository.id, &unit(remote), None, parse, event).await?;
    read.map_err(unreadable(remote))
}

/// Adds a row to the looks that the rows before it are of.
fn add(decoded: &mut Vec<Decoded>, seq: Seq, at: Millis, content: KojiRow) -> Result<(), serde_json::Error> {
    match decoded.last_mut().filter(|last| last.goes_on) {
        Some(last) => last.add(seq, at, content),
        None => {
            decoded.push(Decoded::of(seq, at, content)?);
            Ok(())
        }
    }
}

/// The map that these looks made.
fn replay(decoded: Vec<Decoded>) -> KojiMap {
    let mut next = NextMap::of(&KojiMap::default());
    decoded.into_iter().for_each(|of| next.add(&of.changes, of.committed));
    next.finish()
}

/// A file with its whole digest. If memory has only the first bytes of it, this reads a row of the build.
pub(crate) async fn whole(
    remote: &Remote,
    found: &FoundFile,
    folder: &str,
    name: &str,
    event: &mut Event,
) -> Result<MappedFile> {
    let file =
        |digest| MappedFile { folder: folder.to_owned(), name: name.to_owned(), size_bytes: found.size_bytes, digest };
    if let FoundDigest::Whole(digest) = found.digest {
        return Ok(file(digest));
    }
    for row in (found.row.0..).take(found.rows) {
        let rows = remote.remotes.store.journal(Seq(row.saturating_sub(1)), 1, event).await?;
        let seen = rows.into_iter().find_map(|row| match row.change {
            store::Change::FirstSeen { seen, .. } => Some(seen),
            _ => None,
        });
        let content: Option<KojiRow> = seen.map(serde_json::from_value).transpose().map_err(unreadable(remote))?;
        let digest = content.and_then(|content| content.digest_of(folder, name));
        if let Some(digest) = digest.filter(|digest| found.digest.begins(digest)) {
            return Ok(file(digest));
        }
    }
    Err(unreadable(remote)(serde_json::Error::custom(format!("no row has the file `{folder}/{name}`"))))
}

#[cfg(test)]
pub(crate) mod tests {
    //! Rows without a journal.

    use super::*;
    use telemetry::Millis;

    /// A row as the journal has it.
    pub(crate) struct Row {
        seq: Seq,
        at: Millis,
        json: String,
    }

    /// Rows that were written, and the changes in them.
    pub(crate) struct WrittenRows {
        pub(crate) changes: Vec<Change>,
        pub(crate) committed: Committed,
        pub(crate) rows: Vec<Row>,
    }

    /// Writes changes as rows from this number on.
    pub(crate) fn write(map: &KojiMap, changes: Vec<Change>, at: Millis, first: u64) -> WrittenRows {
        let changes = lean(map, changes);
        let encoded = encode(&changes).unwrap();
        let rows: Vec<Row> =
            (first..).zip(&encoded.rows).map(|(seq, row)| Row { seq: Seq(seq), at, json: row.to_string() }).collect();
        let seq = rows.last().map_or(Seq(first), |row| row.seq);
        let builds = encoded.builds.into_iter().map(|rows| rows.from(Seq(first))).collect();
        WrittenRows { changes, committed: Committed { at, seq, builds }, rows }
    }

    /// The map of these rows.
    pub(crate) fn read(rows: Vec<Row>) -> KojiMap {
        let mut decoded = Vec::new();
        for row in rows {
            add(&mut decoded, row.seq, row.at, serde_json::from_str(&row.json).unwrap()).unwrap();
        }
        replay(decoded)
    }

    #[test]
    fn a_build_with_many_files_has_several_rows_and_each_file_is_in_the_row_that_is_told() {
        let files = (0..3_000).map(|at| MappedFile {
            folder: format!("org/lamp/{}", at / 700),
            name: format!("file-{at:04}.jar"),
            size_bytes: at,
            digest: format::koji::model::FileDigest::Sha256([at as u8; 32]),
        });
        let build = crate::maven::koji::change::MappedBuild {
            id: format::koji::model::BuildId(4),
            nvr: format::koji::model::Nvr { name: "lamp".into(), version: "1".into(), release: "2".into() },
            volume: "DEFAULT".into(),
            files: files.collect(),
            deleted: false,
        };
        let tagging = crate::maven::koji::change::Tagging {
            build: build.id,
            tag: format::koji::model::TagId(1),
            tag_name: "lamps".into(),
            tagged: format::koji::model::KojiEvent::default(),
            tagged_by: None,
        };
        let changes = vec![Change::Build(build.clone()), Change::Tagged(tagging)];
        let written = write(&KojiMap::default(), changes, Millis(1), 100);
        assert!(written.rows.len() > 4 && written.rows.iter().all(|row| row.json.len() < 80_000));
        let contents: Vec<KojiRow> = written.rows.iter().map(|row| serde_json::from_str(&row.json).unwrap()).collect();
        let map = read(written.rows);
        for file in build.files {
            let (_, found) = map.file(&file.folder, &file.name, crate::maven::koji::map::KojiView::Now).unwrap();
            let told = &contents[(found.row.0 - 100) as usize..][..found.rows];
            let at = told.iter().position(|row| row.digest_of(&file.folder, &file.name) == Some(file.digest));
            assert!(at.is_some_and(|at| at <= 1), "{file:?} in {found:?}");
        }
    }
}
