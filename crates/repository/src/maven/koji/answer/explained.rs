//! Says why a map answers as it does: which build has a file, since when and by whom, which one lost it, and why no
//! build has it.

use crate::error::Error;
use crate::error::unlisted::Unlisted;
use crate::maven::koji::answer::asked::{Asked, name_of};
use crate::maven::koji::change::Gone;
use crate::maven::koji::map::{FoundFile, KojiView, Lack, Place};
use crate::maven::koji::words::{at, by, name};
use crate::tree::file::File;
use crate::upstream::trace::FetchTrace;

impl Asked<'_> {
    /// The error for a path that the map does not have, and why in the event.
    pub(crate) fn lacks(&self, file: &File<'_>, trace: &mut FetchTrace) -> Error {
        trace.told = Some(lack(self, file));
        // The journal lacks a part of what that moment had.
        if matches!(self.view, KojiView::Journal(_)) && !self.known.map.is_recorded() {
            return Error::FirstSeenFull(self.remote.repository.record.name.clone());
        }
        let stale = self.known.failed.filter(|_| self.is_now());
        Unlisted { path: file.path.to_owned(), until: self.until(), stale }.into()
    }
}

/// Which build has a file.
pub(crate) fn place(asked: &Asked<'_>, place: &Place, found: &FoundFile) -> String {
    let Place { nvr, tag_name, tagged, tagged_by, seen, at_first_look, lost, deleted, volume, .. } = place;
    let mut text = format!(
        "the build `{}` has it, tagged into `{tag_name}` at {}{}; it was first seen here on {seen}",
        name(nvr),
        at(*tagged),
        by(tagged_by.as_deref()),
    );
    if *at_first_look {
        text.push_str(", by the first look");
    }
    text.push_str(&format!(
        "; the hub has its {} and its size of {} bytes, on the volume `{volume}`",
        found.digest.algorithm().ending(),
        found.size_bytes
    ));
    if *deleted {
        text.push_str("; the hub has deleted the build since");
    }
    for (_, other) in lost {
        text.push_str(&format!("; `{}` has the same folder, too, and lost it by the rule for duplicates", name(other)));
    }
    format!("{text}; {}", state(asked))
}

/// Why no build has a file.
pub(crate) fn lack(asked: &Asked<'_>, file: &File<'_>) -> String {
    let folder = file.folder;
    let why = match asked.known.map.place(folder, asked.view) {
        Ok(Place { nvr, tag_name, .. }) => {
            let nvr = name(&nvr);
            format!(
                "the build `{nvr}` in `{tag_name}` has the folder `{folder}`, and no file `{}` in it",
                name_of(file)
            )
        }
        Err(lack) => match *lack {
            Lack::Never => never(asked, folder),
            Lack::Left { nvr, tag_name, why, event, by: who } => {
                let since = event.map(|event| format!(" at {}", at(event))).unwrap_or_default();
                let (nvr, who) = (name(&nvr), by(who.as_deref()));
                match why {
                    Gone::Untagged => {
                        format!(
                            "the build `{nvr}` had the folder `{folder}`, and was untagged from `{tag_name}`{since}{who}"
                        )
                    }
                    Gone::Hidden => format!(
                        "the build `{nvr}` has the folder `{folder}`, and `{tag_name}` does not show it{since}{who}: its package is blocked there, or a parent is no longer inherited"
                    ),
                    Gone::Deleted => {
                        format!("the build `{nvr}` had the folder `{folder}`, and the hub deleted it{since}{who}")
                    }
                    Gone::TagLeft => format!(
                        "the build `{nvr}` has the folder `{folder}`, and its tag `{tag_name}` no longer belongs to this repository"
                    ),
                }
            }
            Lack::Later { nvr, tag_name, tagged } => format!(
                "at that moment no build had the folder `{folder}` yet; `{}` has it since it was tagged into `{tag_name}` at {}",
                name(&nvr),
                at(tagged)
            ),
        },
    };
    format!("{why}{}; {}", before_all(asked), state(asked))
}

/// Why no build has a folder that none ever had: it may be one of an artifact or of a group.
fn never(asked: &Asked<'_>, folder: &str) -> String {
    let map = &asked.known.map;
    if folder.is_empty() {
        return "no build in the tags has a file in the top folder".to_owned();
    }
    if map.has_below(folder, asked.view) {
        return format!(
            "the builds in the tags have folders below `{folder}`, and neither a file in it nor a version with a POM"
        );
    }
    if map.ever_had_below(folder) {
        let when = if asked.is_now() { "now" } else { "at that moment" };
        return format!("builds have or had folders below `{folder}`, and none of these builds is in the tags {when}");
    }
    let mut text = format!("no build in the tags has the folder `{folder}`, or had it as far as the journal knows");
    for pattern in asked.remote.repository.koji_patterns_without_tags() {
        text.push_str(&format!("; no tag of the hub matches `{pattern}`"));
    }
    text
}

/// What to ask for instead of a moment before the first look. Such a moment has nothing.
fn before_all(asked: &Asked<'_>) -> String {
    match (asked.view, asked.known.map.first_look()) {
        (KojiView::Journal(through), Some((first, at))) if through < first => {
            let name = &asked.remote.repository.record.name;
            format!(
                "; that moment is before the first look at the hub, at {at}, and `{name}@koji-EVENT` names one of Koji"
            )
        }
        _ => String::new(),
    }
}

/// The state of the map.
pub(crate) fn state(asked: &Asked<'_>) -> String {
    let known = &asked.known;
    let mut text = format!("the hub last confirmed the map on {}", known.checked);
    if let Some(reason) = known.failed {
        text.push_str(&format!("; looks fail since then: {}", reason.as_str()));
    }
    text
}
