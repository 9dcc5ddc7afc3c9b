//! The table of the formats' faces.

mod gem;
mod maven;
mod raw;

use crate::face::{Face, Words};
use repository::Format;

/// The face of a format.
pub(crate) fn of(format: Format) -> &'static Face {
    match format {
        Format::Gem => &gem::FACE,
        Format::Maven => &maven::FACE,
        Format::Raw => &raw::FACE,
    }
}

/// The help of `--format`.
pub(crate) fn option_help() -> String {
    let mut options: Vec<&str> = Format::ALL.iter().map(|format| of(*format).option).collect();
    let last = options.pop().unwrap_or_default();
    format!("Format of its packages: {}, or {last}", options.join(", "))
}

/// The face of the format of that name.
pub(crate) fn named(format: &str) -> Option<&'static Face> {
    Format::named(format).map(of)
}

/// Whether the repositories of the format of that name have an index of all packages.
pub(crate) fn has_index(format: &str) -> bool {
    named(format).is_some_and(|face| face.has_index)
}

/// The format whose files are listed to readers. The files of other formats are listed to administrators only.
pub(crate) const LISTED_TO_READERS: &Face = &gem::FACE;

/// The face that speaks in these words. The clients of raw files speak HTTP.
pub(crate) fn speaking(words: Words) -> &'static Face {
    of(words.unwrap_or(Format::Raw))
}
