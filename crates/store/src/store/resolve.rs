//! Two histories: the database and the copy have other changes under the same numbers, as after a failover past this node. A person chooses
//! which of them is kept.
//!
//! The changes that are given up are written into a file first. The copy gives its history up with one rename at the end, after which the next start makes
//! it again from the database; the database does with one transaction. Before these, and after an interruption, both histories are there.

use crate::blobs::digest::hex;
use crate::disk::cluster::ClusterId;
use crate::disk::database_files::{free_name, remove_database};
use crate::disk::layout::Layout;
use crate::disk::space::Space;
use crate::disk::{Disk, RealDisk, node};
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::objects::Objects;
use crate::objects::parted::remove_parted;
use crate::objects::place::belongs;
use crate::store::open_truth::open_truth;
use crate::truth::catalog::{JournalReads as _, JournalRow, Transactions as _};
use crate::truth::postgres::{DatabaseOptions, Direct, PAGE_BYTES, PAGE_ROWS};
use crate::truth::sqlite::Sqlite;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use telemetry::{Log, Millis};

/// How many changes of each history are told.
const TOLD: usize = 10;
/// Digits of the hash in the name of a file with changes that were given up.
const HASH_BYTES: usize = 8;

/// What the database and the copy have after their last common change.
#[derive(Debug, Clone, PartialEq)]
pub struct Histories {
    /// The last common change; 0: there is none.
    pub common: Seq,
    /// When it was made.
    pub common_at: Option<Millis>,
    /// The history of the database.
    pub database: History,
    /// The history of the data folder.
    pub copy: History,
}

/// The changes that only one of them has.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The number of the last one.
    pub last: Seq,
    /// When the last one was made.
    pub last_at: Option<Millis>,
    /// The nodes that made them, with how many each made. Only the database knows that.
    pub nodes: Vec<(String, u64)>,
    /// The first of them, as far as this version reads them.
    pub first: Vec<JournalRow>,
    /// The repositories that these are about, as they were created.
    pub repositories: HashMap<RepositoryId, RepositoryRecord>,
}

/// Which of the two is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptHistory {
    /// That of the database. The copy is made again from it.
    Database,
    /// That of the data folder. It takes the place of the other one in the database.
    Copy,
}

/// What was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// The file with the changes.
    pub file: PathBuf,
    /// The first of them.
    pub first: Seq,
    /// The last of them.
    pub last: Seq,
    /// Where the former copy is, if it was given up.
    pub replaced: Option<PathBuf>,
    /// The segments that were taken from object storage, which are in the data folder now.
    pub segments: u64,
}

/// A data folder whose server does not run, and its database.
pub struct Resolving {
    layout: Layout,
    space: Space,
    folder: String,
    copy: Sqlite,
    database: Direct,
    objects: Option<Objects>,
    histories: Histories,
    _lock: File,
}

impl Resolving {
    /// Compares the two. `None`: there are not two histories. Changes nothing, except that the copy takes in changes of its own files that a
    /// power failure had taken from it. Blocks.
    pub fn open(data: &Path, database: &DatabaseOptions, objects: Option<&Objects>) -> Result<Option<Self>> {
        let (layout, disk) = (Layout::new(data), Arc::new(RealDisk));
        if !layout.segments().is_dir() && !layout.truth().exists() {
            // It was given up, or the folder is not one of a server.
            return if layout.cluster().exists() { Ok(None) } else { Err(layout.no_truth()) };
        }
        let lock = layout.lock()?;
        let space = Arc::new(Space::new(disk.clone(), data.to_owned(), 0, Log::silent()));
        layout.claim(&*disk, &space)?;
        belongs(&*disk, &layout, objects)?;
        let cluster = ClusterId::read(&*disk, &layout, space.clone())?;
        let Some(id) = cluster.get() else {
            let why = "the data folder has not belonged to a database".to_owned();
            return Err(Error::DatabaseOther { url: database.url.clone(), why });
        };
        let database = Direct::connect(database, id)?;
        let mut copy = open_truth(&*disk, None, &layout, &space, &Log::silent(), true)?.truth;
        let folder = format!("{:032x}", node::read_or_make(&*disk, &layout, &space)?);
        let space = Space::new(disk, data.to_owned(), 0, Log::silent());
        let Some(histories) = compare(&database, &mut copy)? else { return Ok(None) };
        Ok(Some(Self { layout, space, folder, copy, database, objects: objects.cloned(), histories, _lock: lock }))
    }

    /// The two.
    pub fn histories(&self) -> &Histories {
        &self.histories
    }

    /// Keeps one of them, and gives the other one up. Blocks.
    pub fn keep(self, kept: KeptHistory) -> Result<GivenUp> {
        match kept {
            KeptHistory::Database => self.keep_database(),
            KeptHistory::Copy => self.keep_copy(),
        }
    }

    fn keep_database(mut self) -> Result<GivenUp> {
        let (common, copy) = (self.histories.common, &mut self.copy);
        let (file, last) =
            save(&self.space, &self.layout, common, &mut |after| copy.journal_text(after, PAGE_ROWS, PAGE_BYTES))?;
        let database = &self.database;
        let segments = self.remove_segments(&mut |after, count| {
            page_by_page(after, count, |after, limit| database.rows(after, limit))
        })?;
        // All of these are made again, and repositories of the two histories may have the same numbers.
        for folder in [self.layout.segments(), self.layout.all_derived(), self.layout.cached()] {
            if folder.is_dir() {
                RealDisk.remove_folder(&folder).map_err(Error::io("remove", &folder))?;
            }
        }
        remove_database(&self.layout.cache())?;
        self.space.sync_folder(self.layout.data())?;
        // The write-ahead log goes into the file, which is renamed alone.
        Box::new(self.copy).close()?;
        let replaced = free_name(&self.layout.truth())?;
        self.space.rename(&self.layout.truth(), &replaced)?;
        remove_database(&self.layout.truth())?;
        Ok(GivenUp { file, first: Seq(common.0 + 1), last, replaced: Some(replaced), segments })
    }

    fn keep_copy(mut self) -> Result<GivenUp> {
        let common = self.histories.common;
        self.database.hold(&self.folder)?;
        // Somebody may have resolved it meanwhile from another machine.
        if compare(&self.database, &mut self.copy)?.map(|now| now.common) != Some(common) {
            return Err(Error::DatabaseInUse("somebody else".to_owned()));
        }
        let database = &self.database;
        let (file, last) = save(&self.space, &self.layout, common, &mut |after| database.rows(after, PAGE_ROWS))?;
        let mut copy = Sqlite::reader(&self.layout.truth())?;
        let segments = self.remove_segments(&mut |after, count| copy.journal_text(after, count, usize::MAX))?;
        self.database.remove(common)?;
        let mut after = common;
        loop {
            let rows = self.copy.journal_text(after, PAGE_ROWS, PAGE_BYTES)?;
            let Some((last, _)) = rows.last() else { break };
            after = *last;
            self.database.add(&rows)?;
        }
        self.database.commit()?;
        Ok(GivenUp { file, first: Seq(common.0 + 1), last, replaced: None, segments })
    }

    /// Takes the segments of the history that is given up from object storage, into the data folder.
    fn remove_segments(&self, kept: &mut dyn FnMut(Seq, usize) -> Result<Vec<(Seq, String)>>) -> Result<u64> {
        let Some(objects) = &self.objects else { return Ok(0) };
        let data = self.layout.data();
        remove_parted(objects, self.histories.common, kept, &mut |name, bytes| {
            self.space.put(&data.join("given-up.new"), &data.join(format!("given-up-segment-{name}")), bytes)
        })
    }
}

impl std::fmt::Debug for Resolving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolving").field("histories", &self.histories).finish_non_exhaustive()
    }
}

/// Writes the rows after `common` into a file of the data folder, one in a line. `rows` gives a page of those after a number. Returns the
/// file, whose name is that of its rows, and the last row.
fn save(
    space: &Space,
    layout: &Layout,
    common: Seq,
    rows: &mut dyn FnMut(Seq) -> Result<Vec<(Seq, String)>>,
) -> Result<(PathBuf, Seq)> {
    let temporary = layout.data().join("given-up.new");
    if RealDisk.size(&temporary).map_err(Error::io("look at", &temporary))?.is_some() {
        space.remove(&temporary)?;
    }
    let mut file = RealDisk.create(&temporary).map_err(Error::io("create", &temporary))?;
    let (mut last, mut hash) = (common, Sha256::new());
    loop {
        let page = rows(last)?;
        let Some((reached, _)) = page.last() else { break };
        last = *reached;
        let text: String = page.iter().flat_map(|(_, row)| [row, "\n"]).collect();
        hash.update(&text);
        file.write(text.as_bytes()).map_err(Error::io("write", &temporary))?;
    }
    file.sync().map_err(Error::io("sync", &temporary))?;
    let hash = hex(&hash.finalize()[..HASH_BYTES]);
    let path = layout.data().join(format!("given-up-{}-{}-{hash}.jsonl", common.0 + 1, last.0));
    space.rename(&temporary, &path)?;
    Ok((path, last))
}

/// So many rows after a number, of which `page` gives some at a time.
fn page_by_page(
    mut after: Seq,
    count: usize,
    page: impl Fn(Seq, usize) -> Result<Vec<(Seq, String)>>,
) -> Result<Vec<(Seq, String)>> {
    let mut rows = Vec::new();
    while rows.len() < count {
        let next = page(after, count - rows.len())?;
        let Some((last, _)) = next.last() else { break };
        after = *last;
        rows.extend(next);
    }
    Ok(rows)
}

/// The two histories; `None`: one of the two is the beginning of the other.
fn compare(database: &Direct, copy: &mut Sqlite) -> Result<Option<Histories>> {
    let (theirs, ours) = (database.last()?, copy.last()?);
    let mut is_same = |seq: u64| -> Result<bool> {
        Ok(database.rows(Seq(seq - 1), 1)? == copy.journal_text(Seq(seq - 1), 1, usize::MAX)?)
    };
    let least = theirs.min(ours).0;
    if least == 0 || is_same(least)? {
        return Ok(None);
    }
    // The rows up to `same` are the same, and that of `other` is not.
    let (mut same, mut other) = (0, least);
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if is_same(middle)? { same = middle } else { other = middle }
    }
    let common = Seq(same);
    let common_at =
        if same == 0 { None } else { copy.journal_text(Seq(same - 1), 1, usize::MAX)?.first().and_then(at) };
    let their_nodes = database.nodes(common)?;
    let database = history(common, theirs, their_nodes, &mut |after, limit| database.rows(after, limit))?;
    let copy = history(common, ours, Vec::new(), &mut |after, limit| copy.journal_text(after, limit, usize::MAX))?;
    Ok(Some(Histories { common, common_at, database, copy }))
}

fn history(
    common: Seq,
    last: Seq,
    nodes: Vec<(String, u64)>,
    rows: &mut dyn FnMut(Seq, usize) -> Result<Vec<(Seq, String)>>,
) -> Result<History> {
    let last_at = rows(Seq(last.0 - 1), 1)?.first().and_then(at);
    let first: Vec<JournalRow> =
        rows(common, TOLD)?.iter().map_while(|(seq, body)| JournalRow::read(*seq, body).ok()).collect();
    let mut repositories = HashMap::new();
    for id in first.iter().filter_map(|row| row.change.repository()) {
        // The number of a repository is that of the row which created it.
        let created =
            rows(Seq(id.0.saturating_sub(1)), 1)?.pop().and_then(|(seq, body)| JournalRow::read(seq, &body).ok());
        if let Some(Change::Repository { record, .. }) = created.map(|row| row.change) {
            repositories.insert(id, record);
        }
    }
    Ok(History { last, last_at, nodes, first, repositories })
}

/// When a row was written, also one of a later version.
fn at(row: &(Seq, String)) -> Option<Millis> {
    #[derive(Deserialize)]
    struct At {
        at: Millis,
    }
    serde_json::from_str::<At>(&row.1).ok().map(|row| row.at)
}
