//! A version of a map as the input of a policy. Nothing of a map is answered without it.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::maven::koji::answer::asked::Asked;
use crate::maven::koji::map::{KojiView, Place};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::PackageVersion;
use crate::repository::Repository;
use crate::tree::file::File;
use crate::upstream::release_age::AgeRecord;
use crate::upstream::trace::FetchTrace;
use crate::visible::{Row, shown};
use store::State;
use telemetry::Millis;

/// A version of an artifact, with the build that has it.
#[derive(Debug, Clone)]
pub(crate) struct KojiVersion {
    /// `org/example/lamp`.
    pub(crate) artifact_folder: String,
    pub(crate) version: String,
    pub(crate) place: Place,
    pub(crate) age: AgeRecord,
}

impl KojiVersion {
    /// The version of a folder, such as `org/example/lamp/1.0`.
    pub(crate) fn of(folder: &str, place: Place, view: KojiView) -> Self {
        let (artifact_folder, version) = folder.rsplit_once('/').unwrap_or(("", folder));
        let age = age_of(&place, view);
        Self { artifact_folder: artifact_folder.to_owned(), version: version.to_owned(), place, age }
    }

    /// Why the policy of the repository hides it.
    pub(crate) fn hidden(&self, repository: &Repository, now: Millis) -> Option<Hidden> {
        shown(self, repository.view(now)).err().flatten()
    }
}

impl Row for KojiVersion {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.age.seen, self.age.seen)
    }

    fn coordinates(&self, _: Format) -> Option<PackageVersion<'_>> {
        let (group, artifact) = self.artifact_folder.rsplit_once('/')?;
        Some(PackageVersion::maven(group, artifact, &self.version, self.age.age()).upstream())
    }
}

/// The age of a version. Koji's own past is older than the first sight: there the moment of tagging decides what there
/// was, and the age is that of any other view.
fn age_of(place: &Place, view: KojiView) -> AgeRecord {
    let seen = match view {
        KojiView::Now | KojiView::Journal(_) => place.seen,
        KojiView::Event(_) => place.seen.min(Millis(place.tagged.at_ms)),
    };
    AgeRecord { seen, since: place.since, open: false }
}

/// Decides whether the policy shows a file of this place, and tells which exceptions make it so.
pub(crate) fn check(asked: &Asked<'_>, file: &File<'_>, place: &Place, trace: &mut FetchTrace) -> Result<()> {
    let row = KojiVersion::of(file.folder, place.clone(), asked.view);
    let missing = || Error::NoSuchFile(file.path.to_owned());
    let view = asked.remote.repository.view(asked.remote.now());
    let let_through = shown(&row, view).map_err(|why| why.map_or_else(missing, Error::from))?;
    trace.let_through = let_through.or_else(|| trace.let_through.take());
    Ok(())
}
