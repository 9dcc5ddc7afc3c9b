//! The JSON of a row, and changes as rows.

use crate::maven::koji::change::{Change, MappedBuild, MappedFile};
use crate::maven::koji::map::KojiMap;
use crate::maven::koji::map::apply::{BuildRows, Committed};
use crate::maven::koji::rows::small::{SmallChange, small_form};
use format::koji::model::{BuildId, FileDigest, Nvr};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use store::Seq;
use telemetry::Millis;

/// Roughly the most bytes of files, or of other changes, in a row.
const ROW_BYTES: usize = 64 << 10;
/// The volume that a row does not name.
const DEFAULT_VOLUME: &str = "DEFAULT";

type Result<T> = std::result::Result<T, serde_json::Error>;

/// A row: a build or a part of one, or other changes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct KojiRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    build: Option<BuildRow>,
    /// More files of the build in the row before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<FolderRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<SmallChange>,
    /// Whether the next row belongs to the same look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

/// Whether the next row belongs to the same look as this one.
pub(super) fn goes_on(row: &serde_json::Value) -> bool {
    row.get("more").and_then(serde_json::Value::as_bool).unwrap_or_default()
}

/// A folder, and its files: name, bytes, and the digest, whose length tells its kind.
type FolderRow = (String, Vec<(String, u64, String)>);

#[derive(Debug, Serialize, Deserialize)]
struct BuildRow {
    id: u32,
    nvr: (String, String, String),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    volume: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    files: Vec<FolderRow>,
}

/// Changes as rows.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    pub(super) rows: Vec<serde_json::Value>,
    /// The rows of each build with files.
    pub(super) builds: Vec<EncodedBuild>,
}

/// The rows of a build, as positions.
#[derive(Debug)]
pub(super) struct EncodedBuild {
    first: usize,
    further: Vec<Option<String>>,
}

impl EncodedBuild {
    /// The same, with the number of the first of all rows.
    pub(super) fn from(self, first: Seq) -> BuildRows {
        BuildRows { first: Seq(first.0 + self.first as u64), further: self.further }
    }
}

/// The changes of a map. A build whose files are as known has only its other facts, so no row repeats the files.
pub(super) fn lean(map: &KojiMap, changes: Vec<Change>) -> Vec<Change> {
    let mut builds: BTreeMap<BuildId, usize> = BTreeMap::new();
    for change in &changes {
        if let Change::Build(build) = change {
            *builds.entry(build.id).or_default() += 1;
        }
    }
    let lean = |change: Change| match change {
        Change::Build(build) if builds.get(&build.id) == Some(&1) => {
            let same_name = map.build(build.id).is_some_and(|known| known.nvr == build.nvr);
            let same_files = || build.deleted && build.files.is_empty() || map.same_files(build.id, &build.files);
            match same_name && same_files() {
                true => Change::Facts { build: build.id, volume: build.volume, deleted: build.deleted },
                false => Change::Build(build),
            }
        }
        other => other,
    };
    changes.into_iter().map(lean).collect()
}

/// The rows for changes.
pub(super) fn encode(changes: &[Change]) -> Result<Encoded> {
    let (mut rows, mut builds): (Vec<KojiRow>, Vec<EncodedBuild>) = (Vec::new(), Vec::new());
    let (mut small, mut bytes): (Vec<SmallChange>, usize) = (Vec::new(), 0);
    for change in changes {
        match small_form(change) {
            Some((change, weight)) => {
                if bytes + weight > ROW_BYTES {
                    rows.push(KojiRow { changes: std::mem::take(&mut small), ..KojiRow::default() });
                    bytes = 0;
                }
                bytes += weight;
                small.push(change);
            }
            None => {
                if !small.is_empty() {
                    rows.push(KojiRow { changes: std::mem::take(&mut small), ..KojiRow::default() });
                    bytes = 0;
                }
                let Change::Build(build) = change else { continue };
                let first = rows.len();
                rows.extend(build_rows(build));
                builds.push(EncodedBuild { first, further: further(&rows[first..]) });
            }
        }
    }
    if !small.is_empty() {
        rows.push(KojiRow { changes: small, ..KojiRow::default() });
    }
    let last = rows.len().saturating_sub(1);
    rows.iter_mut().take(last).for_each(|row| row.more = true);
    let rows = rows.iter().map(serde_json::to_value).collect::<Result<_>>()?;
    Ok(Encoded { rows, builds })
}

/// The rows of a build.
fn build_rows(build: &MappedBuild) -> Vec<KojiRow> {
    let mut sorted: Vec<&MappedFile> = build.files.iter().collect();
    sorted.sort_unstable_by(|one, other| (&one.folder, &one.name).cmp(&(&other.folder, &other.name)));
    sorted.dedup_by(|one, other| one.folder == other.folder && one.name == other.name);
    let mut parts: Vec<Vec<FolderRow>> = vec![Vec::new()];
    let mut bytes = 0;
    for file in sorted {
        let digest = file.digest.hex();
        let weight = file.name.len() + digest.len() + 24;
        if bytes + weight + file.folder.len() > ROW_BYTES {
            parts.push(Vec::new());
            bytes = 0;
        }
        let Some(part) = parts.last_mut() else { continue };
        if part.last().is_none_or(|(folder, _)| *folder != file.folder) {
            bytes += file.folder.len() + 8;
            part.push((file.folder.clone(), Vec::new()));
        }
        bytes += weight;
        if let Some((_, files)) = part.last_mut() {
            files.push((file.name.clone(), file.size_bytes, digest));
        }
    }
    let mut parts = parts.into_iter();
    let Nvr { name, version, release } = build.nvr.clone();
    let row = BuildRow {
        id: build.id.0,
        nvr: (name, version, release),
        volume: Some(build.volume.clone()).filter(|volume| volume != DEFAULT_VOLUME),
        deleted: build.deleted,
        files: parts.next().unwrap_or_default(),
    };
    let first = KojiRow { build: Some(row), ..KojiRow::default() };
    std::iter::once(first).chain(parts.map(|files| KojiRow { files, ..KojiRow::default() })).collect()
}

/// The first folder that begins in each row of a build after its first one.
fn further(rows: &[KojiRow]) -> Vec<Option<String>> {
    rows.windows(2).filter_map(|pair| Some(begins(pair.first()?.folders().last(), pair.last()?.folders()))).collect()
}

/// The first of the folders that is not a continuation of the last one before.
fn begins(before: Option<&FolderRow>, folders: &[FolderRow]) -> Option<String> {
    let name = |row: &FolderRow| row.0.clone();
    folders.iter().map(name).find(|folder| before.is_none_or(|(before, _)| before != folder))
}

impl KojiRow {
    fn folders(&self) -> &[FolderRow] {
        self.build.as_ref().map_or(&self.files, |build| &build.files)
    }

    /// The digest of a file, if the row has it.
    pub(super) fn digest_of(&self, folder: &str, name: &str) -> Option<FileDigest> {
        let mut files = self.folders().iter().filter(|(of, _)| of == folder).flat_map(|(_, files)| files);
        files.find(|(of, _, _)| of == name).and_then(|(_, _, digest)| FileDigest::from_hex(digest))
    }
}

/// The changes of one look, from its rows.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) changes: Vec<Change>,
    pub(super) committed: Committed,
    /// Whether the next row belongs to it.
    pub(super) goes_on: bool,
    /// The last folder of the row before.
    last: Option<String>,
}

impl Decoded {
    /// The changes of its first row.
    pub(super) fn of(seq: Seq, at: Millis, row: KojiRow) -> Result<Self> {
        let committed = Committed { at, seq, builds: VecDeque::new() };
        let mut decoded = Self { changes: Vec::new(), committed, goes_on: true, last: None };
        decoded.add(seq, at, row)?;
        Ok(decoded)
    }

    /// Adds those of its next row.
    pub(super) fn add(&mut self, seq: Seq, at: Millis, row: KojiRow) -> Result<()> {
        (self.committed.seq, self.committed.at, self.goes_on) = (seq, at, row.more);
        if let Some(build) = row.build {
            let (name, version, release) = build.nvr;
            self.last = build.files.last().map(|(folder, _)| folder.clone());
            self.changes.push(Change::Build(MappedBuild {
                id: BuildId(build.id),
                nvr: Nvr { name, version, release },
                volume: build.volume.unwrap_or_else(|| DEFAULT_VOLUME.to_owned()),
                files: files(build.files)?,
                deleted: build.deleted,
            }));
            self.committed.builds.push_back(BuildRows { first: seq, further: Vec::new() });
        } else if !row.files.is_empty() {
            let last = self.last.take().map(|folder| (folder, Vec::new()));
            let begins = begins(last.as_ref(), &row.files);
            self.last = row.files.last().map(|(folder, _)| folder.clone());
            let (Some(Change::Build(build)), Some(rows)) = (self.changes.last_mut(), self.committed.builds.back_mut())
            else {
                return Err(serde_json::Error::custom("a row continues no build"));
            };
            build.files.extend(files(row.files)?);
            rows.further.push(begins);
        }
        self.changes.extend(row.changes.into_iter().map(SmallChange::change));
        Ok(())
    }
}

fn files(folders: Vec<FolderRow>) -> Result<Vec<MappedFile>> {
    let mut files = Vec::with_capacity(folders.iter().map(|(_, files)| files.len()).sum());
    for (folder, of) in folders {
        for (name, size_bytes, digest) in of {
            let digest = FileDigest::from_hex(&digest)
                .ok_or_else(|| serde_json::Error::custom("a digest has another length"))?;
            files.push(MappedFile { folder: folder.clone(), name, size_bytes, digest });
        }
    }
    Ok(files)
}
