//! What an operator can do about an error.

use super::{Error, is_corrupt};
use crate::journal::clock_doubt::ClockDoubt;
use std::io;
use std::path::Path;

impl Error {
    /// What an operator can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Locked(_) => {
                Some("stop that process if it is a server, and otherwise wait until it ends; or name another folder".into())
            }
            Self::Foreign { .. } => Some("name an empty folder or one that does not exist yet with `--data`".into()),
            Self::TooNew { .. } => Some(
                "start the later version again; the way back to this one is a backup from before the upgrade: \
                 `daylight restore BACKUP --data EMPTY_FOLDER` (docs/upgrading.md)"
                    .into(),
            ),
            Self::Network { .. } => Some("put the data folder on a disk of this machine".into()),
            Self::Busy(bound) => Some(match bound.setting() {
                Some(setting) => format!("try again in a moment; the setting `{setting}` is the limit"),
                None => "try again in a moment".into(),
            }),
            Self::DiskNearlyFull { .. } => Some("free space on the disk, or make the disk larger".into()),
            Self::Clock(ClockDoubt::OffFromDatabase(_)) => Some(
                "set the clocks of this machine and of the database's machine right, best by NTP; everything is written again then"
                    .into(),
            ),
            Self::DatabaseAway { .. } => Some(
                "see whether PostgreSQL runs there and is no standby, and whether this machine reaches it; a server accepts changes again by itself"
                    .into(),
            ),
            Self::NoCopy { .. } => Some(
                "see whether PostgreSQL runs there and is no standby, and whether this machine reaches it; then start the server again: later \
                 starts have a copy, and do not need the database"
                    .into(),
            ),
            Self::DatabaseRefuses { of, .. } => Some(of.hint().into()),
            Self::DatabaseOther { .. } => Some(
                "name the right database in the setting `cluster.database`; or, if the database is right, start with an empty data folder, \
                 which is filled from it"
                    .into(),
            ),
            Self::Parted { .. } => Some(
                "stop this server, and type `daylight cluster resolve --data DIR --config FILE`: it shows both histories, and keeps the one that you choose"
                    .into(),
            ),
            Self::DatabaseInUse(_) => Some(
                "stop all servers of the database first; `SELECT pg_terminate_backend(PROCESS)` ends the connection of a machine that is lost"
                    .into(),
            ),
            Self::DatabaseAhead { .. } => Some(
                "upgrade this node to the version of the node that made the change; if all have the same, somebody else has written to the \
                 database, and its backup has the right row"
                    .into(),
            ),
            Self::NodeBehind { node, .. } => Some(format!("upgrade the node `{node}`, or stop it: everything is written again then")),
            Self::NameTaken { .. } => {
                Some("give each node a name of its own in the setting `cluster.node`; or stop the other one first".into())
            }
            Self::NotAdopted { .. } => Some(
                "`daylight cluster adopt --data DIR` writes them into the database; or name an empty data folder".into(),
            ),
            Self::InCluster(_) => Some(
                "name it in the setting `cluster.database`; to go on without a database, restore a backup of this folder: \
                 `daylight restore BACKUP --data EMPTY_FOLDER`"
                    .into(),
            ),
            Self::Clock(_) => Some(
                "set the machine's clock right, and everything is written again; or, if it is right, run \
                 `daylight repair clock --clock-is-right`, and if it cannot be set, `daylight repair clock --rows-are-right`"
                    .into(),
            ),
            Self::Poisoned => Some("check the disk and the system's log, then restart".into()),
            Self::Nul { .. } => Some("choose a name without it".into()),
            Self::BlobMissing(_) => Some("run `daylight check` to see what else is missing".into()),
            Self::ObjectsAway { .. } => Some(
                "see whether the bucket of `store.objects` exists, whether `store.credentials` are right, and whether the storage runs; a server \
                 goes on by itself"
                    .into(),
            ),
            Self::ObjectsRefuse { .. } => Some(
                "see whether the bucket exists, whether the keys may read, write, list and delete in it, and whether the clocks agree"
                    .into(),
            ),
            Self::ObjectMissing { .. } | Self::ObjectDamaged { .. } => Some(
                "bring the object back from a copy of the bucket, or publish the file again; `daylight check --verify` \
                 finds all such objects"
                    .into(),
            ),
            Self::ObjectsAhead { .. } => Some(
                "set another prefix in `store.objects`, or start the server with the folder that wrote there last; to give up changes that only \
                 its segments have, move these segments away"
                    .into(),
            ),
            Self::ObjectsUnset { .. } | Self::ObjectsOther { .. } => Some(
                "set `store.objects` to the place that the folder names; if all objects were moved, write the new place into its \
                 file `objects`"
                    .into(),
            ),
            Self::TokensDoubted(_) => Some(
                "ask another node; an operator sees with `daylight cluster status` why this one does not follow, and sets the time with \
                 `cluster.stale_private_s`"
                    .into(),
            ),
            Self::ObjectsElsewhere { noted, .. } => Some(
                format!(
                    "set `store.objects` to `{noted}`; if all objects were moved, write the new place into the database: \
                     `UPDATE daylight.note SET body = 's3://...' WHERE name = 'objects'`"
                ),
            ),
            Self::NoTruth { has_segments: true, .. } => {
                Some("`daylight rebuild` rebuilds it from the segments".into())
            }
            Self::NotEmpty { .. } => Some("name a folder that is empty or does not exist".into()),
            Self::Nested { .. } => Some("name a folder elsewhere, best on another disk".into()),
            Self::OtherHistory(_) => Some("make the backup in a new folder".into()),
            Self::IsBackup(_) => Some("`daylight restore TARGET --data DIR` makes a data folder from it".into()),
            Self::NoBackup(_) => Some(
                "name a folder that `daylight backup` made; if it was interrupted, run it again to complete it".into(),
            ),
            Self::Unrestored(_) => Some("delete the folder, and run `daylight restore` again".into()),
            Self::NoTruth { .. } | Self::NoSegments(_) => Some("name the data folder of a server with `--data`".into()),
            Self::SegmentsAhead { .. } => {
                Some("run `daylight rebuild` to rebuild the database from the segments".into())
            }
            Self::Segment { .. } => {
                Some("restore the file from a backup; `daylight check` lists all damaged files".into())
            }
            Self::Sqlite { source, .. } if is_corrupt(source) => {
                Some("run `daylight rebuild` to rebuild the database from the segments".into())
            }
            full if full.is_disk_full() => Some("free space on the disk, or make the disk larger".into()),
            Self::Io { what, path, source } => hint_of_io(what, path, source).map(Into::into),
            _ => None,
        }
    }
}

/// What an operator can do about an error of the operating system.
fn hint_of_io(what: &str, path: &Path, source: &io::Error) -> Option<&'static str> {
    use io::ErrorKind::{AlreadyExists, NotADirectory, PermissionDenied, ReadOnlyFilesystem};
    match source.kind() {
        PermissionDenied => Some(
            "run the command as the user that owns the folder, usually the user of the server, or give this user access",
        ),
        ReadOnlyFilesystem => {
            Some("the file system is mounted read-only: mount it for writing, or name a folder elsewhere")
        }
        NotADirectory => Some("a file is where a folder is expected: name a folder"),
        AlreadyExists if what == "make" && path.is_file() => Some("this is a file: name a folder"),
        _ => None,
    }
}
