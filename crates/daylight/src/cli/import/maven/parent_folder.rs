//! Refuses a folder that holds Maven repositories, as the parent of `releases` and `snapshots`: with their names in front, its paths
//! would be those of other groups.

use crate::cli::failure::{Failure, plain};
use format::maven::LONGEST;
use format::maven::path::{self, Kind};
use format::maven::pom::Pom;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Compares the groups in the POMs with their paths, until one is where it belongs.
pub(super) fn refuse(folder: &Path, found: &BTreeMap<String, PathBuf>) -> Result<(), Failure> {
    let mut inside = None;
    for (path, file) in found.iter().filter(|(path, _)| path.ends_with(".pom")) {
        let Some(Kind::Artifact(artifact)) = path::read(path).map(|read| read.kind) else { continue };
        let Some(group) = group(file) else { continue };
        let there = artifact.group_id();
        if there == group {
            return Ok(());
        }
        if let Some(above) = there.strip_suffix(&group).and_then(|above| above.strip_suffix('.')) {
            inside.get_or_insert_with(|| (path, group, path[..above.len()].to_owned()));
        }
    }
    let Some((path, group, above)) = inside else { return Ok(()) };
    let shown = |path: &Path| plain(&path.display().to_string());
    let text = format!(
        "`{}` holds repositories, and is none itself: `{}` is of the group `{}`",
        shown(folder),
        plain(path),
        plain(&group)
    );
    let hint = format!("name one of them: `{}`", shown(&folder.join(above)));
    Err(Failure::new(text, Some(hint)))
}

/// The group in a POM; `None`: it cannot be read, or has a property in its place.
fn group(file: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(file).and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes)).ok()?;
    Pom::read(&bytes).ok()?.group
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders of other servers")]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_refused_if_all_its_poms_are_below_folders_that_are_not_of_their_groups() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |files: &[(&str, &str)]| {
            let found = files.iter().map(|(path, text)| {
                let file = folder.path().join(path.replace('/', "_"));
                std::fs::write(&file, text).unwrap();
                ((*path).to_owned(), file)
            });
            refuse(Path::new("old"), &found.collect()).err().map(|error| format!("{error}"))
        };
        let acme = "<project><groupId>com.acme</groupId></project>";
        let (inside, at) = ("releases/com/acme/lamp/1/lamp-1.pom", "com/acme/lamp/1/lamp-1.pom");
        let told = refusal(&[(inside, acme)]).unwrap();
        assert!(told.starts_with("`old` holds repositories") && told.contains(inside), "{told}");
        assert_eq!(refusal(&[(at, acme)]), None);
        assert_eq!(refusal(&[(inside, acme), (at, acme)]), None, "one wrong POM makes no parent folder");
        for unknown in ["<project/>", "no xml", "<project><groupId>${group}</groupId></project>"] {
            assert_eq!(refusal(&[(inside, unknown)]), None, "{unknown}");
        }
        assert_eq!(refusal(&[("org/example/lamp/1/lamp-1.pom", acme)]), None, "a group that was renamed");
    }
}
