//! Rehearses an upgrade: opens a copy of the truth with this version of the program, and compares.

use crate::disk::database_files::{remove_database, with_suffix};
use crate::disk::layout::Layout;
use crate::disk::{Disk, RealDisk};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use crate::store::progress::Progress;
use crate::truth::catalog::{JournalReads as _, Transactions as _};
use crate::truth::sqlite::{Sqlite, copy_database};
use std::path::{Path, PathBuf};
use std::time::Duration;
use telemetry::Tick;

/// Rows that are compared or replayed at a time.
const PAGE: usize = 4096;
/// The space that a rehearsal needs: a copy of the truth, a replayed truth, and SQLite's other files.
const COPIES: u64 = 3;

/// The result of a rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsal {
    /// The last change of the copy.
    pub seq: Seq,
    /// The version of the tables before.
    pub form_before: u32,
    /// The version of the tables after this program opened the copy.
    pub form_after: u32,
    /// How long opening took. A server would not answer meanwhile.
    pub opened_in: Duration,
    /// Tables whose rows differ from those of a replay of the journal. `journal`: opening changed rows of the journal. Empty: the
    /// upgrade works.
    pub differing: Vec<String>,
}

/// The folder of the copies. Dropping this removes it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // The next rehearsal first removes the rest.
        let _ = RealDisk.remove_folder(&self.0);
    }
}

/// Copies the truth of the folder `data`, opens the copy, which migrates it to the tables of this program, and compares it with
/// the original and with a replay of the whole journal. A server may use the folder meanwhile. The copies are in a folder of
/// their own and are removed.
pub fn rehearse(data: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Rehearsal> {
    let layout = Layout::new(data);
    let truth = layout.truth();
    let Some(size_bytes) = RealDisk.size(&truth).map_err(Error::io("look at", &truth))? else {
        return Err(layout.no_truth());
    };
    // A later version wrote it, or nothing is wrong.
    drop(Sqlite::reader(&truth)?);
    let space = RealDisk.space(data).map_err(Error::io("look at", data))?;
    if space.free < size_bytes * COPIES {
        let (folder, free_bytes, needed_bytes) = (data.to_owned(), space.free, size_bytes * COPIES);
        return Err(Error::NoRoom { what: "a rehearsal", folder, free_bytes, needed_bytes });
    }
    // A second rehearsal at the same time is refused.
    let copies = Layout::new(layout.rehearsal());
    let _lock = copies.lock()?;
    let folder = Folder(layout.rehearsal());

    let copy = copies.truth();
    copy_database(&truth, &copy, progress)?;
    let form_before = Sqlite::copied(&copy)?.form()?;
    let began = Tick::now();
    let mut opened = Sqlite::writer(&copy)?;
    let opened_in = Duration::from_nanos(Tick::now().since(began));
    let seq = opened.last()?;
    let mut source = Sqlite::reader(&truth)?;
    let (mut replayed, mut changed) = (begin_replay(&copies)?, false);
    let mut last = Seq(0);
    while last < seq {
        let rows = opened.journal(last, PAGE)?;
        let Some(row) = rows.last() else { break };
        // The journal only grows, so that of a running server has these rows, too.
        let text = |truth: &mut Sqlite| truth.journal_text(last, rows.len(), usize::MAX);
        changed |= text(&mut opened)? != text(&mut source)?;
        replayed.replay(&rows)?;
        last = row.seq;
        progress(Progress { done: last.0, total: seq.0, of: "rows" });
    }
    let mut differing = opened.differing_tables(&replayed)?;
    if changed && !differing.iter().any(|table| table == "journal") {
        differing.push("journal".to_owned());
    }
    let form_after = opened.form()?;
    drop((opened, replayed, folder));
    Ok(Rehearsal { seq, form_before, form_after, opened_in, differing })
}

/// An empty truth beside the copy.
fn begin_replay(copies: &Layout) -> Result<Sqlite> {
    let path = with_suffix(&copies.truth(), ".replayed");
    remove_database(&path)?;
    Sqlite::writer(&path)
}
