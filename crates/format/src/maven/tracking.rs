//! `_remote.repositories`: where the files in a folder of a client's local repository came from.
//!
//! The resolver of Maven 3.1 and later writes it beside the files (`EnhancedLocalRepositoryManager`), as Java properties with a key for
//! each file and source: `FILE>ID=`. The id is empty for a file that was installed on this machine, and otherwise that of the repository
//! or of its mirror. Maven 3.10.0 adds a dash and a SHA-1 of 40 digits to the id, so that repositories with the same id differ. Folders
//! of servers have no such file.

use std::collections::BTreeSet;

/// Its name.
pub const TRACKING: &str = "_remote.repositories";
/// The size up to which it is read, in bytes.
pub const TRACKING_MAX: usize = 1 << 20;
/// How many hexadecimal digits Maven 3.10.0 adds to an id.
const DIGITS: usize = 40;

/// The sources of the files in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tracking {
    /// Whether a file was installed on this machine.
    pub installed: bool,
    /// The ids of the repositories that files were downloaded from.
    pub downloaded: BTreeSet<String>,
}

impl Tracking {
    /// Reads the file. Lines of another form are left out, and so is a line that a cut at [`TRACKING_MAX`] may have shortened.
    pub fn read(bytes: &[u8]) -> Self {
        let mut read = Self::default();
        let bytes = match bytes.len() < TRACKING_MAX {
            true => bytes,
            false => &bytes[..bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0)],
        };
        for line in String::from_utf8_lossy(bytes).lines() {
            match source(line.trim()) {
                Some(id) if id.is_empty() => read.installed = true,
                Some(id) => drop(read.downloaded.insert(id)),
                None => {}
            }
        }
        read
    }
}

/// The id in a line; `None`: it is a comment or of another form.
fn source(line: &str) -> Option<String> {
    if line.starts_with(['#', '!']) {
        return None;
    }
    let (mut key, mut escaped) = (String::new(), false);
    for c in line.chars() {
        match c {
            '\\' if !escaped => escaped = true,
            '=' | ':' if !escaped => break,
            c => {
                key.push(c);
                escaped = false;
            }
        }
    }
    let (file, id) = key.rsplit_once('>')?;
    (!file.is_empty()).then(|| plain(id).to_owned())
}

/// The id without the digits that Maven 3.10.0 adds.
fn plain(id: &str) -> &str {
    match id.rsplit_once('-') {
        Some((plain, digits)) if digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => plain,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_installed_is_told_from_what_was_downloaded() {
        let read = |text: &str| Tracking::read(text.as_bytes());
        let of = |installed, ids: &[&str]| Tracking {
            installed,
            downloaded: ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        let head = "#NOTE: This is a Maven Resolver internal implementation file, its format can be changed.\r\n#Sat Nov 28\r\n";
        assert_eq!(read(&format!("{head}lamp-1.0.pom>=\r\nlamp-1.0.jar>=\r\n")), of(true, &[]));
        assert_eq!(read("oil-1.0.pom>central=\noil-1.0.jar>nexus\\:8081=\n"), of(false, &["central", "nexus:8081"]));
        let hashed = "oil-1.0.jar>central-8fac3ebd6edbaca3c794783fa38088af0aa128e7=\noil-1.0.pom>a-b=\noil-1.0.pom>=";
        assert_eq!(read(hashed), of(true, &["a-b", "central"]));
        let mut cut = format!("{}lamp-1.0.jar>central=", "#\n".repeat(TRACKING_MAX));
        let end = cut.rfind("central").unwrap();
        cut = cut.split_off(end - TRACKING_MAX);
        assert_eq!(read(&cut[..TRACKING_MAX]), of(false, &[]));
        assert_eq!(read("#x\n\n>central=\nnothing\n!a>b="), of(false, &[]));
    }
}
