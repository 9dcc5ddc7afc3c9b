//! The errors of the store. They can be cloned, because several callers may wait for one operation.

mod disk_full;
mod hint;
mod withheld;

use crate::blobs::digest::Digest;
use crate::journal::clock_doubt::ClockDoubt;
use crate::journal::record::Seq;
use crate::truth::postgres::DatabaseRefusal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};
use telemetry::{BoundName, Full};

/// What may fail with an [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Another process holds the folder.
    #[error("another process uses the data folder `{}`", .0.display())]
    Locked(PathBuf),
    /// The folder has files but no `version`, so it is not a data folder.
    #[error("the folder `{}` has `{found}` and no file `version`, so it is not a data folder", data.display())]
    Foreign {
        /// The folder.
        data: PathBuf,
        /// One of the files in it.
        found: String,
    },
    /// A later version wrote the folder.
    #[error("{} wrote the folder `{}`: its {of} has the form `{found}`, and this is daylight {}, which reads forms up to {known}",
        opened_by.as_ref().map_or_else(|| "a later version of daylight".to_owned(), |version| format!("daylight {version}")), data.display(),
        env!("CARGO_PKG_VERSION"))]
    TooNew {
        /// The folder.
        data: PathBuf,
        /// The part with the later form: `layout` or `database`.
        of: &'static str,
        /// The form of that part.
        found: String,
        /// The newest form that this program reads.
        known: u32,
        /// The version of the program that opened the folder last, if the folder tells.
        opened_by: Option<String>,
    },
    /// The folder is on a network file system, whose locks and syncs the store cannot rely on.
    #[error("the folder `{}` is on a network file system: {kind}", data.display())]
    Network {
        /// The folder.
        data: PathBuf,
        /// Its kind.
        kind: &'static str,
    },
    /// The disk has too little free space for an operation.
    #[error("{what} needs {needed_bytes} free bytes in `{}`, and {free_bytes} are free", folder.display())]
    NoRoom {
        /// The operation.
        what: &'static str,
        /// The folder that needs the space.
        folder: PathBuf,
        /// The free space.
        free_bytes: u64,
        /// The space that it needs.
        needed_bytes: u64,
    },
    /// Free space is below the floor: nothing is written, but everything can be read.
    #[error("{free_bytes} bytes are free on the disk and {floor_bytes} must stay free: nothing is written")]
    DiskNearlyFull {
        /// The free space.
        free_bytes: u64,
        /// The space that must stay free.
        floor_bytes: u64,
    },
    /// A sync failed, so the content of the disk is unknown: nothing is written until a restart.
    #[error("an earlier sync to the disk failed, so nothing is written until the server restarts")]
    Poisoned,
    /// A queue was full.
    #[error("the queue `{}` is full", .0.as_str())]
    Busy(BoundName),
    /// The store is closing, or a bug ended the operation.
    #[error("the store is closed")]
    Closed,
    /// The staged bytes were discarded after a failed or interrupted write.
    #[error("the staged bytes were discarded after a failed write")]
    GivenUp,
    /// A batch has no author or no address. This is a bug.
    #[error("a change without `{0}` is not written")]
    NoAuthor(&'static str),
    /// A name contains a NUL character.
    #[error("the {what} {name:?} contains a NUL character")]
    Nul {
        /// What the name belongs to.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A row refers to a blob that is not on disk.
    #[error("the blob `{0}` is not on disk")]
    BlobMissing(Digest),
    /// Object storage is not reached, does not answer in time, or failed.
    #[error("the object storage `{url}` cannot be used: {cause}")]
    ObjectsAway {
        /// The place.
        url: String,
        /// What happened.
        cause: String,
    },
    /// Object storage refuses the request.
    #[error("the object storage `{url}` refuses a request: {cause}")]
    ObjectsRefuse {
        /// The place.
        url: String,
        /// What it said.
        cause: String,
    },
    /// A row names a blob that is neither on disk nor in object storage.
    #[error("the object storage `{url}` lacks the object `{key}`, which a row names")]
    ObjectMissing {
        /// The place.
        url: String,
        /// The key of the object.
        key: String,
    },
    /// Object storage sent other bytes than those of the object.
    #[error("the object storage `{url}` sent other bytes than those of the object `{key}`")]
    ObjectDamaged {
        /// The place.
        url: String,
        /// The key of the object.
        key: String,
    },
    /// The segments in object storage are not of this journal, or have later rows.
    #[error("the object storage `{url}` belongs to another journal or a later state of this one: {why}")]
    ObjectsAhead {
        /// The place.
        url: String,
        /// What was found there.
        why: String,
    },
    /// Blobs of the folder may be only in object storage, and none is set.
    #[error("blobs of the folder `{}` are in the object storage `{url}`, which is not set", data.display())]
    ObjectsUnset {
        /// The folder.
        data: PathBuf,
        /// The place.
        url: String,
    },
    /// Blobs of the folder may be only in one object storage, and another one is set.
    #[error("blobs of the folder `{}` are in the object storage `{url}`, and `{other}` is set", data.display())]
    ObjectsOther {
        /// The folder.
        data: PathBuf,
        /// The place that the folder names.
        url: String,
        /// The place that is set.
        other: String,
    },
    /// The nodes of the database keep bytes elsewhere than the settings of this one say.
    #[error("the nodes of this database keep bytes in `{noted}`, and this one would keep them in {set}")]
    ObjectsElsewhere {
        /// The place that the database names.
        noted: String,
        /// The place that is set, for people.
        set: String,
    },
    /// This node has not heard of the others for too long, and they may have revoked a token since.
    #[error(
        "tokens are not believed: this node has not followed the others for {0} seconds, and they may have revoked some"
    )]
    TokensDoubted(u64),
    /// The operating system reported an input or output error.
    #[error("cannot {what} `{}`: {source}", path.display())]
    Io {
        /// The operation that failed: a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: Arc<io::Error>,
    },
    /// The operating system refused a thread.
    #[error("cannot start a thread: {0}")]
    Thread(Arc<io::Error>),
    /// SQLite failed.
    #[error("the database cannot {what}: {source}")]
    Sqlite {
        /// The operation that failed: a verb.
        what: &'static str,
        /// The error of SQLite.
        source: Arc<rusqlite::Error>,
    },
    /// The clock disagrees with the journal, and nobody has decided which is right; or with that of the database.
    #[error("{0}, so nothing is written until {until}", until = .0.until())]
    Clock(ClockDoubt),
    /// The database cannot be used now. If this refuses a change, the change may have been made nevertheless.
    #[error("the database `{url}` cannot be used: {cause}")]
    DatabaseAway {
        /// The database.
        url: String,
        /// The cause.
        cause: String,
    },
    /// The database refuses the connection, and only people can change that.
    #[error("the database `{url}` refuses this server: {cause}")]
    DatabaseRefuses {
        /// The database.
        url: String,
        /// What it said.
        cause: String,
        /// What it refuses.
        of: DatabaseRefusal,
    },
    /// The database is not the one that this store was written with, or has another history.
    #[error("the database `{url}` cannot be used: {why}")]
    DatabaseOther {
        /// The database.
        url: String,
        /// The reason.
        why: String,
    },
    /// The database has another change under a number than the copy.
    #[error("the database `{url}` cannot be used: its change `{}` is not the change `{0}` of this node: their histories have parted, so nothing is written", seq.0)]
    Parted {
        /// The database.
        url: String,
        /// The number.
        seq: Seq,
    },
    /// The history of the database cannot be replaced, because others work on it.
    #[error("the database is in use by {0}, so nothing was changed")]
    DatabaseInUse(String),
    /// The database has a change that no program of this version has written.
    #[error("the database `{url}` has a change that this program cannot take in: {why}")]
    DatabaseAhead {
        /// The database.
        url: String,
        /// The reason.
        why: String,
    },
    /// A living node does not read the rows that this one writes.
    #[error("the node `{node}` does not read the change: {why}")]
    NodeBehind {
        /// The name of that node.
        node: String,
        /// The forms, and the version of its program.
        why: String,
    },
    /// Another living node has the name of this one.
    #[error("another node with the name `{name}` is running: `{url}`")]
    NameTaken {
        /// The name.
        name: String,
        /// The URL of the other node.
        url: String,
    },
    /// The data folder has changes from before it had a database, and nobody has decided that they move there.
    #[error("the data folder has {rows} changes, and the database `{url}` is empty")]
    NotAdopted {
        /// The database.
        url: String,
        /// The number of the last change.
        rows: u64,
    },
    /// The data folder has no copy of the truth, and the database that has it cannot be used.
    #[error(
        "a first start needs the database `{url}`, which cannot be used: {cause}; the data folder has no copy of its changes yet"
    )]
    NoCopy {
        /// The database.
        url: String,
        /// The cause.
        cause: String,
    },
    /// The data folder belongs to a database, and none was named.
    #[error("the changes of the data folder `{}` are ordered by a PostgreSQL database, and none is named", .0.display())]
    InCluster(PathBuf),
    /// A stored row is not in the format that this version writes.
    #[error("the row `{seq}` of the journal or of a derived table cannot be read: {why}", seq = seq.0)]
    Row {
        /// Its number; 0: the row is derived.
        seq: Seq,
        /// The problem.
        why: String,
    },
    /// Rows do not follow each other without a gap.
    #[error("the journal has `{}` where `{}` must follow", found.0, after.0 + 1)]
    Gap {
        /// The last row before the gap.
        after: Seq,
        /// The row that was found.
        found: Seq,
    },
    /// The segments have changes that the truth does not have. The truth was lost, or replaced by an older one.
    #[error("the segments reach change `{}`, but the database ends at change `{}`", segments.0, truth.0)]
    SegmentsAhead {
        /// The last change in the segments.
        segments: Seq,
        /// The last change in the truth.
        truth: Seq,
    },
    /// The folder is not empty.
    #[error("the folder `{}` is not empty: it has `{found}`", folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
        /// One of the files in it.
        found: String,
    },
    /// One folder is inside the other.
    #[error("one of the folders `{}` and `{}` is inside the other", data.display(), other.display())]
    Nested {
        /// The data folder.
        data: PathBuf,
        /// The other one.
        other: PathBuf,
    },
    /// The folder contains a backup of another data folder, or of a later state of this one.
    #[error("the folder `{}` contains a backup of another data folder, or one with later changes than this one", .0.display())]
    OtherHistory(PathBuf),
    /// The folder is a backup and not a server's data folder.
    #[error("the folder `{}` is a backup and not a data folder", .0.display())]
    IsBackup(PathBuf),
    /// The folder is not a backup, or not a complete one.
    #[error("the folder `{}` is not a complete backup", .0.display())]
    NoBackup(PathBuf),
    /// A restore into the folder was interrupted, or is running.
    #[error("the folder `{}` is not completely restored", .0.display())]
    Unrestored(PathBuf),
    /// The folder has no truth.
    #[error("no Daylight database in `{}`", data.display())]
    NoTruth {
        /// The folder.
        data: PathBuf,
        /// Whether it has segments to rebuild the truth from.
        has_segments: bool,
    },
    /// The folder has no segments to rebuild the truth from.
    #[error("the folder `{}` has no segments", .0.display())]
    NoSegments(PathBuf),
    /// A segment does not match its name.
    #[error("the segment `{name}` is damaged: {why}")]
    Segment {
        /// Its file name.
        name: String,
        /// The problem.
        why: String,
    },
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source: Arc::new(source) }
    }

    pub(crate) fn thread(source: io::Error) -> Self {
        Self::Thread(Arc::new(source))
    }

    pub(crate) fn sqlite(what: &'static str) -> impl Fn(rusqlite::Error) -> Self {
        move |source| Self::Sqlite { what, source: Arc::new(source) }
    }

    pub(crate) fn row(seq: Seq) -> impl FnOnce(serde_json::Error) -> Self {
        move |why| Self::Row { seq, why: fmt::format(format_args!("{why}")) }
    }
}

impl From<Full> for Error {
    fn from(Full(name): Full) -> Self {
        Self::Busy(name)
    }
}

/// Whether the file is not a database, or is a damaged one.
pub(crate) fn is_corrupt(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
