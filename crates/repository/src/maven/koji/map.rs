//! All files of all builds in the tags of a repository, in memory.

use crate::maven::koji::change::{Change, MappedFile};
use format::koji::model::{BuildId, EventId, KojiEvent, Nvr, TagId};
use store::Seq;
use telemetry::Millis;

/// The map. It is a value: a look makes the next one from it.
#[derive(Debug, Default, Clone)]
pub(crate) struct KojiMap;

/// From when a map is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KojiView {
    Now,
    /// As the journal had it directly after this change.
    Journal(Seq),
    /// As Koji had it at this event, as far as the journal knows.
    Event(EventId),
}

/// The build that a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) build: BuildId,
    pub(crate) nvr: Nvr,
    pub(crate) volume: String,
    pub(crate) deleted: bool,
    pub(crate) tag: TagId,
    pub(crate) tag_name: String,
    pub(crate) tagged: KojiEvent,
    pub(crate) tagged_by: Option<String>,
    /// When this server first saw it, and whether that was the first look.
    pub(crate) seen: Millis,
    pub(crate) at_first_look: bool,
    /// The builds that have the folder, too, and lost it by the rule of duplicates.
    pub(crate) lost: Vec<(BuildId, Nvr)>,
}

/// Why no build has a folder, as far as the journal knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lack {
    /// No build in the tags ever had it.
    Never,
    /// A build had it, and left the tag.
    Left { nvr: Nvr, tag_name: String, why: super::change::Gone, event: Option<KojiEvent>, by: Option<String> },
    /// At that event no build had it yet; this one has it since.
    Later { nvr: Nvr, tag_name: String, tagged: KojiEvent },
}

impl KojiMap {
    /// The map after these changes, which were committed at `at` as the row `seq`.
    pub(crate) fn apply(&mut self, _changes: &[Change], _at: Millis, _seq: Seq) {}

    /// The build of a folder, such as `org/example/lamp/1.0`.
    pub(crate) fn place(&self, _folder: &str, _view: KojiView) -> Result<Place, Box<Lack>> {
        Err(Box::new(Lack::Never))
    }

    /// A file of a folder, of the build that has the folder.
    pub(crate) fn file(&self, _folder: &str, _name: &str, _view: KojiView) -> Option<(Place, MappedFile)> {
        None
    }

    /// The versions of `org/example/lamp` that have a POM, each with its tagging, unordered.
    pub(crate) fn versions(&self, _artifact_folder: &str, _view: KojiView) -> Vec<(String, KojiEvent)> {
        Vec::new()
    }
}
