//! The account and the certificate in the data folder. Only its owner can read them.
//!
//! The certificate and its key are two files, as every program expects them. A crash between the two would leave a key that does not fit, so both
//! are written into one file before, from which a start makes the two again.

use crate::serve::certificate::PemFiles;
use front::Tls;
use insight::StateFile;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of each file.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// The files of the folder.
#[derive(Debug, Clone)]
pub(super) struct Files {
    folder: PathBuf,
}

/// The newest certificate and its key.
#[derive(Serialize, Deserialize)]
struct Pair {
    certificate: String,
    key: String,
}

impl Files {
    /// Those of this folder, which is made when the first one is written.
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The certificate with its chain.
    pub(super) fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }

    /// Its key.
    pub(super) fn key(&self) -> PathBuf {
        self.folder.join("key.pem")
    }

    /// The account at the authority.
    pub(super) fn account(&self) -> StateFile {
        StateFile::new(self.folder.join("account.json"))
    }

    fn pair(&self) -> StateFile {
        StateFile::new(self.folder.join("pair.json"))
    }

    /// Replaces the certificate and its key.
    pub(super) fn write(&self, new: &PemFiles) -> io::Result<()> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let pair = Pair { certificate: text(&new.certificate), key: text(&new.key) };
        self.pair().write(&serde_json::to_vec(&pair)?)?;
        self.spread(&pair)
    }

    /// Makes both files again if a crash left a key that does not fit. Whether it did.
    pub(super) fn mend(&self) -> io::Result<bool> {
        let read = |path: PathBuf| StateFile::new(path).read(FILE_MAX_BYTES);
        let (certificate, key) = (read(self.certificate())?, read(self.key())?);
        let fits = |certificate: &[u8], key: &[u8]| Tls::new(certificate, key).is_ok();
        // Somebody may have removed one, to have both replaced.
        let (Some(certificate), Some(key)) = (certificate, key) else { return Ok(false) };
        if fits(&certificate, &key) {
            return Ok(false);
        }
        let pair = self.pair().read(FILE_MAX_BYTES)?;
        let pair: Option<Pair> = pair.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(pair) = pair.filter(|pair| fits(pair.certificate.as_bytes(), pair.key.as_bytes())) else {
            return Ok(false);
        };
        self.spread(&pair).map(|()| true)
    }

    fn spread(&self, pair: &Pair) -> io::Result<()> {
        StateFile::new(self.key()).write(pair.key.as_bytes())?;
        StateFile::new(self.certificate()).write(pair.certificate.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::placeholder::placeholder;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn pem(name: &str) -> PemFiles {
        placeholder(&[name.to_owned()]).unwrap()
    }

    #[test]
    fn a_start_after_a_crash_between_the_two_files_finds_both_of_the_new_pair() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(&folder.path().join("acme"));
        assert!(!files.mend().unwrap(), "there is nothing yet");
        files.write(&pem("old.example")).unwrap();
        let old = std::fs::read(files.certificate()).unwrap();
        let new = pem("new.example");
        files.write(&new).unwrap();
        // As if the power went before the second file was written.
        StateFile::new(files.certificate()).write(&old).unwrap();
        assert!(Tls::new(&old, &std::fs::read(files.key()).unwrap()).is_err());
        assert!(files.mend().unwrap());
        assert_eq!(std::fs::read(files.certificate()).unwrap(), new.certificate);
        assert!(!files.mend().unwrap(), "once is enough");
    }

    #[test]
    fn a_pair_that_somebody_else_put_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path());
        files.write(&pem("old.example")).unwrap();
        let planted = pem("planted.example");
        StateFile::new(files.key()).write(&planted.key).unwrap();
        StateFile::new(files.certificate()).write(&planted.certificate).unwrap();
        assert!(!files.mend().unwrap());
        assert_eq!(std::fs::read(files.certificate()).unwrap(), planted.certificate);
    }

    #[test]
    fn only_the_owner_can_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(&folder.path().join("acme"));
        files.write(&pem("a.example")).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&files.folder), 0o700);
        for entry in std::fs::read_dir(&files.folder).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}
