//! The place in object storage in which all nodes keep bytes: a note in the database names it.

use crate::error::{Error, Result};

/// The name of the note.
pub(crate) const PLACE: &str = "objects";

/// An error unless this node keeps bytes where the others do. `noted`: the place in the note; `set`: that of the settings, none: the data
/// folder.
pub(crate) fn is_shared(noted: Option<&str>, set: Option<&str>) -> Result<()> {
    match noted {
        Some(noted) if set != Some(noted) => {
            let set = set.map_or_else(|| "its data folder".to_owned(), |url| format!("`{url}`"));
            Err(Error::ObjectsElsewhere { noted: noted.to_owned(), set })
        }
        _ => Ok(()),
    }
}
