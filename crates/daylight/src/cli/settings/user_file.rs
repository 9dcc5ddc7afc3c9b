//! A file of the user's that is replaced at once and with its mode, while a copy of the former one stays beside it.

use crate::cli::failure::{Failure, plain};
use anyhow::{Context as _, ensure};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use store::disk::{Disk as _, RealDisk};

/// The most copies of former files in one folder.
const COPIES: usize = 100;
/// The mode of a new file: it may get secrets.
const MODE: u32 = 0o600;

/// A file that was read.
pub(super) struct UserFile {
    /// Its name for people.
    named: PathBuf,
    /// Where it is: a symbolic link to it stays one.
    path: PathBuf,
    bytes: Option<Vec<u8>>,
    longest: usize,
}

impl UserFile {
    /// Reads a file of at most `longest` bytes. It may be absent.
    pub(super) fn read(named: PathBuf, longest: usize) -> anyhow::Result<Self> {
        let path = match fs::canonicalize(&named) {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(&named).is_err() => named.clone(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", plain(&named.to_string_lossy())));
            }
        };
        let bytes =
            read(&path, longest).with_context(|| format!("cannot read `{}`", plain(&named.to_string_lossy())))?;
        Ok(Self { named, path, bytes, longest })
    }

    /// Its name for people.
    pub(super) fn shown(&self) -> String {
        plain(&self.named.to_string_lossy())
    }

    /// Its content; `None`: there is no such file.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// Replaces it. Returns the name of the copy of the former file.
    pub(super) fn replace(&self, bytes: &[u8]) -> anyhow::Result<Option<String>> {
        let failed = |path: &Path| format!("cannot write `{}`", plain(&path.to_string_lossy()));
        let folder =
            self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder).with_context(|| failed(folder))?;
        // Of two runs at once, the second sees the change of the first.
        let lock = File::open(folder).with_context(|| failed(folder))?;
        lock.lock().with_context(|| failed(folder))?;
        if read(&self.path, self.longest).with_context(|| failed(&self.path))? != self.bytes {
            let text = format!("somebody changed `{}` meanwhile, so nothing was changed", self.shown());
            return Err(Failure::new(text, Some("run the command again".to_owned())).into());
        }
        let former =
            self.bytes.is_some().then(|| fs::metadata(&self.path)).transpose().with_context(|| failed(&self.path))?;
        let copy = match (&former, self.bytes()) {
            (Some(former), Some(before)) => Some(self.keep(before, former)?),
            _ => None,
        };
        let arriving = with_ending(&self.path, &format!("daylight-{}", std::process::id()));
        let written = write(&arriving, bytes, former.as_ref()).and_then(|()| RealDisk.rename(&arriving, &self.path));
        if written.is_err() {
            let _ = RealDisk.unlink(&arriving);
        }
        written.with_context(|| failed(&self.path))?;
        RealDisk.open_folder(folder).and_then(|folder| folder.sync()).with_context(|| failed(folder))?;
        Ok(copy)
    }

    /// Writes a copy of the former file under a name that no file has.
    fn keep(&self, before: &[u8], former: &fs::Metadata) -> anyhow::Result<String> {
        for number in 1..=COPIES {
            let ending = if number == 1 { "bak".to_owned() } else { format!("bak{number}") };
            let (path, named) = (with_ending(&self.path, &ending), with_ending(&self.named, &ending));
            match write(&path, before, Some(former)) {
                // Of a link the copy is beside the file, not beside the link.
                Ok(()) if fs::canonicalize(&named).is_ok_and(|there| there == path) => {
                    return Ok(plain(&named.to_string_lossy()));
                }
                Ok(()) => return Ok(plain(&path.to_string_lossy())),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let text =
                        format!("cannot keep a copy as `{}`, so nothing was changed", plain(&path.to_string_lossy()));
                    return Err(error).context(text);
                }
            }
        }
        let text = format!("`{}` has {COPIES} copies beside it, so nothing was changed", self.shown());
        Err(Failure::new(text, Some("delete the copies that you no longer need".to_owned())).into())
    }
}

/// `None`: there is no such file.
fn read(path: &Path, longest: usize) -> anyhow::Result<Option<Vec<u8>>> {
    let file = match RealDisk.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let (mut bytes, limit) = (Vec::new(), u64::try_from(longest)?);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() <= longest, "it is longer than {longest} bytes");
    Ok(Some(bytes))
}

/// Writes a new file, with the mode and the owner of `former`.
fn write(path: &Path, bytes: &[u8], former: Option<&fs::Metadata>) -> std::io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
    if let Some(former) = former {
        let about = file.metadata()?;
        if (about.uid(), about.gid()) != (former.uid(), former.gid()) {
            fchown(&file, Some(former.uid()), Some(former.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(former.mode() & 0o7777))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// The path with this behind its name: `settings.xml.bak`.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{ending}"));
    path.with_file_name(name)
}
