//! Gives a downloaded file its name after it is complete, and never replaces a file with other bytes.

use crate::cli::api::Api;
use crate::cli::failure::Failure;
use crate::cli::repository_client::RepositoryClient;
use anyhow::Context as _;
use client::BodySink;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use store::disk::{Disk as _, RealDisk, is_irregular};

/// An export of a repository.
pub(crate) struct ExportJob<'a> {
    pub(crate) api: &'a Api,
    pub(crate) repository: &'a RepositoryClient,
    /// Downloads at the same time.
    pub(crate) jobs: usize,
    pub(crate) folder: &'a Path,
}

/// What happened to a file.
pub(crate) enum Placed {
    Written,
    /// The folder had it already.
    Present,
    /// A file with its name has other bytes.
    Conflict(PathBuf),
}

/// Downloads a file with `fetch`, which returns its date. It has a temporary name until it is complete and its SHA-256 is `sum`.
pub(crate) fn download(
    path: PathBuf,
    sum: &str,
    fetch: impl FnOnce(BodySink<'_>) -> anyhow::Result<Option<SystemTime>>,
) -> anyhow::Result<Placed> {
    match RealDisk.open(&path) {
        Ok(present) => {
            let found = sha256(present).with_context(|| format!("cannot read `{}`", path.display()))?;
            return Ok(if found == sum { Placed::Present } else { Placed::Conflict(path) });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        // A link or a pipe, which is not read.
        Err(error) if is_irregular(&error) => return Ok(Placed::Conflict(path)),
        Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
    let arriving = arriving(&path)?;
    let failed = || format!("cannot write `{}`", arriving.display());
    let (mut out, mut sha256) = (RealDisk.create(&arriving).with_context(failed)?, Sha256::new());
    let fetched = fetch(&mut |piece| {
        sha256.update(piece);
        out.write(piece)
    });
    let found = HEXLOWER.encode(&sha256.finalize());
    match fetched {
        Ok(published) if found == sum => {
            out.sync().with_context(failed)?;
            if let Some(published) = published {
                let dated = File::options().write(true).open(&arriving).and_then(|file| file.set_modified(published));
                dated.with_context(failed)?;
            }
            RealDisk.rename(&arriving, &path).with_context(failed)?;
            Ok(Placed::Written)
        }
        fetched => {
            RealDisk.unlink(&arriving).with_context(failed)?;
            fetched.with_context(|| format!("`{}` was not fetched", path.display()))?;
            let hint = "the server's disk may be damaged: stop it, and run `daylight check --verify` there";
            let text =
                format!("the bytes of `{}` have the SHA-256 {found}, and the server lists {sum}", path.display());
            Err(Failure::new(text, Some(hint.to_owned())).into())
        }
    }
}

/// Writes a generated file. It replaces an earlier one if `replace` allows it.
pub(crate) fn write(path: PathBuf, bytes: &[u8], replace: bool) -> anyhow::Result<Placed> {
    let mut present = Vec::new();
    match RealDisk.open(&path).and_then(|mut file| file.read_to_end(&mut present)).map(|_| present) {
        Err(error) if is_irregular(&error) => return Ok(Placed::Conflict(path)),
        Ok(present) if present == bytes => return Ok(Placed::Present),
        Ok(_) if !replace => return Ok(Placed::Conflict(path)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
        }
        Ok(_) | Err(_) => {}
    }
    let arriving = arriving(&path)?;
    let failed = || format!("cannot write `{}`", arriving.display());
    let mut out = RealDisk.create(&arriving).with_context(failed)?;
    out.write(bytes).and_then(|()| out.sync()).with_context(failed)?;
    RealDisk.rename(&arriving, &path).with_context(failed)?;
    Ok(Placed::Written)
}

/// The temporary name of a file, in a folder that exists.
fn arriving(path: &Path) -> anyhow::Result<PathBuf> {
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default().to_string_lossy());
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    let arriving = folder.join(format!(".{name}.arriving"));
    // The remainder of a killed export.
    match RealDisk.unlink(&arriving) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot write `{}`", arriving.display()))
        }
        _ => Ok(arriving),
    }
}

fn sha256(mut file: File) -> io::Result<String> {
    let (mut sha256, mut piece) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(HEXLOWER.encode(&sha256.finalize())),
            read => sha256.update(&piece[..read]),
        }
    }
}
