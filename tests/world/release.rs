//! The tested releases of Maven and their folders, for the tests and the benchmark of real builds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tested releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// 3.8, Debian's: uses Wagon for HTTP, and requests a `.sha1` of each file.
    Three8,
    /// 3.9: takes checksums from headers.
    Three9,
    /// 3.10: requests the list of path prefixes, and only the files that it allows.
    Three10,
    /// 4: uses the HTTP client of the JDK, and deploys a consumer POM besides that of the build.
    Four,
}

impl Release {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Three8, Self::Three9, Self::Three10, Self::Four];

    /// Its version, if it is not Debian's.
    pub(crate) fn fetched(self) -> Option<&'static str> {
        match self {
            Self::Three8 => None,
            Self::Three9 => Some("3.9.16"),
            Self::Three10 => Some("3.10.0"),
            Self::Four => Some("4.0.0-rc-5"),
        }
    }

    /// The folder of its installation. A fetched release is below `clients`; `get` fetches its archive once, and
    /// receives the path of the archive in the central repository.
    pub(crate) fn install(self, clients: &Path, get: impl FnOnce(&str) -> io::Result<Vec<u8>>) -> io::Result<PathBuf> {
        let Some(version) = self.fetched() else { return Ok("/usr".into()) };
        let name = format!("apache-maven-{version}");
        unpacked(clients, &name, || get(&format!("org/apache/maven/apache-maven/{version}/{name}-bin.tar.gz")))
    }
}

/// The folder of this name below `clients`, after it was unpacked: the only top folder of the archive that `get`
/// fetches.
pub(crate) fn unpacked(clients: &Path, name: &str, get: impl FnOnce() -> io::Result<Vec<u8>>) -> io::Result<PathBuf> {
    let home = clients.join(name);
    if !home.exists() {
        fs::create_dir_all(clients)?;
        let archive = get()?;
        let unpacked = tempfile::tempdir_in(clients)?;
        // The tar crate truncates names in JRuby's archive that are longer than 100 bytes.
        let file = unpacked.path().join("archive");
        fs::write(&file, archive)?;
        let done = Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(unpacked.path()).status()?;
        assert!(done.success(), "{}", home.display());
        fs::rename(unpacked.path().join(name), &home)?;
    }
    Ok(home)
}
