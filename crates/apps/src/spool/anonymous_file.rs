//! Files without a name: the kernel frees their bytes when the last handle is closed, also after a crash.

use bytes::Bytes;
use rustix::fs::{CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use telemetry::EventId;
use tokio::task::{JoinHandle, spawn_blocking};

/// The most bytes of one write or read.
pub(super) const PIECE: usize = 64 << 10;

/// A new file in `folder`. Blocks.
fn create(folder: &Path) -> io::Result<File> {
    let (access, mode) = (OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    match openat(CWD, folder, access | OFlags::TMPFILE, mode) {
        // The file system or the kernel has no such files: overlayfs before Linux 6.3, NFS.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => {
            let path = folder.join(format!(".daylight-spool-{}", EventId::next(telemetry::Clock::default().now())));
            let file = openat(CWD, &path, access | OFlags::CREATE | OFlags::EXCL, mode)?;
            unlinkat(CWD, &path, rustix::fs::AtFlags::empty())?;
            Ok(file.into())
        }
        file => Ok(file?.into()),
    }
}

/// Writes `bytes` at `at` of a file, on threads that may wait for a disk. Without a file it makes one in `folder`.
pub(super) async fn write(
    folder: &Arc<Path>,
    file: Option<Arc<File>>,
    mut bytes: Bytes,
    mut at: u64,
) -> io::Result<Arc<File>> {
    let mut file = file;
    while !bytes.is_empty() || file.is_none() {
        let (piece, folder) = (bytes.split_to(bytes.len().min(PIECE)), folder.clone());
        let (so_far, len) = (file.take(), piece.len() as u64);
        let written = spawn_blocking(move || {
            let file = so_far.map_or_else(|| create(&folder).map(Arc::new), Ok)?;
            file.write_all_at(&piece, at)?;
            io::Result::Ok(file)
        });
        file = Some(written.await.map_err(io::Error::other)??);
        at += len;
    }
    file.ok_or_else(|| io::ErrorKind::WriteZero.into())
}

/// A read under way.
pub(super) type Reading = JoinHandle<io::Result<Bytes>>;

/// The next bytes of a file from `at` on, at most `len`: at once, if the kernel has them in memory; otherwise a thread reads them.
pub(super) fn read(file: &Arc<File>, at: u64, len: u64) -> Result<io::Result<Bytes>, Reading> {
    let len = usize::try_from(len).map_or(PIECE, |len| len.min(PIECE));
    let mut piece = vec![0; len];
    match preadv2(file, &mut [IoSliceMut::new(&mut piece)], at, ReadWriteFlags::NOWAIT) {
        Ok(read) if read > 0 => {
            piece.truncate(read);
            Ok(Ok(piece.into()))
        }
        // The bytes were written, so the end of the file is an error, which the thread reports.
        Ok(_) | Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS) => {
            let file = file.clone();
            Err(spawn_blocking(move || {
                file.read_exact_at(&mut piece, at)?;
                Ok(piece.into())
            }))
        }
        Err(error) => Ok(Err(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_no_name_and_gives_back_what_was_written() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path: Arc<Path> = folder.path().into();
            let file = write(&path, None, vec![1; 3 * PIECE].into(), 0).await.unwrap();
            let file = write(&path, Some(file), vec![2; 10].into(), 3 * PIECE as u64).await.unwrap();
            assert_eq!(folder.path().read_dir().unwrap().count(), 0);
            let mut all = Vec::new();
            while all.len() < 3 * PIECE + 10 {
                let left = 3 * PIECE + 10 - all.len();
                let piece = match read(&file, all.len() as u64, left as u64) {
                    Ok(piece) => piece,
                    Err(reading) => reading.await.unwrap(),
                };
                all.extend_from_slice(&piece.unwrap());
            }
            assert_eq!(all, [vec![1; 3 * PIECE], vec![2; 10]].concat());
            let behind = match read(&file, all.len() as u64, 1) {
                Ok(piece) => piece,
                Err(reading) => reading.await.unwrap(),
            };
            assert_eq!(behind.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        });
    }
}
