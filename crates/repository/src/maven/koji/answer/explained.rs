//! Says why a map answers as it does: which build has a file, since when and by whom, which one lost it, and why no
//! build has it.

use crate::maven::koji::answer::asked::{Asked, name_of};
use crate::maven::koji::answer::file::algorithm;
use crate::maven::koji::change::Gone;
use crate::maven::koji::map::{FoundFile, Lack, Place};
use crate::tree::file::File;
use format::koji::model::{KojiEvent, Nvr};
use telemetry::Millis;

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
        algorithm(&found.digest).ending(),
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
            Lack::Never => {
                format!("no build in the tags has the folder `{folder}`, or had it as far as the journal knows")
            }
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
    format!("{why}; {}", state(asked))
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

/// `name-version-release`.
pub(crate) fn name(nvr: &Nvr) -> String {
    format!("{}-{}-{}", nvr.name, nvr.version, nvr.release)
}

fn at(event: KojiEvent) -> String {
    match event.at_ms {
        0 => format!("event {}", event.id.0),
        at => format!("event {} on {}", event.id.0, Millis(at)),
    }
}

fn by(who: Option<&str>) -> String {
    who.map(|who| format!(" by {who}")).unwrap_or_default()
}
