//! Whether an error says that the disk is full.

use super::Error;
use std::io;

impl Error {
    /// Whether the disk is full, by Daylight's floor or by the operating system. The operation was not done, so it may be
    /// repeated once there is space.
    pub fn is_disk_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        match self {
            Self::DiskNearlyFull { .. } | Self::NoRoom { .. } => true,
            Self::Io { source, .. } => matches!(source.kind(), StorageFull | QuotaExceeded),
            // SQLite has rolled the transaction back.
            Self::Sqlite { source, .. } => {
                let extended = source.sqlite_error().map(|error| error.extended_code);
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
                    || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_full_disk_is_recognized_by_all_errors_that_say_so() {
        let of_machine = |kind: io::ErrorKind| Error::io("write", Path::new("a"))(kind.into());
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database.pragma_update(None, "max_page_count", 1).unwrap();
        let of_sqlite = database.execute("CREATE TABLE a (b)", []).map_err(Error::sqlite("write")).unwrap_err();
        let of_floor = Error::DiskNearlyFull { free_bytes: 1, floor_bytes: 2 };
        let full =
            [of_machine(io::ErrorKind::StorageFull), of_machine(io::ErrorKind::QuotaExceeded), of_sqlite, of_floor];
        for full in full {
            assert!(full.is_disk_full() && full.hint().is_some(), "{full}");
        }
        for refused in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            assert!(of_machine(refused).hint().is_some(), "{refused}");
        }
        for other in [of_machine(io::ErrorKind::PermissionDenied), Error::Poisoned, Error::Closed] {
            assert!(!other.is_disk_full(), "{other}");
        }
    }
}
