//! The lines with which clients use a repository of raw files.

use crate::face::Usage;
use web::Document;

/// Adds the lines to the page of the repository.
pub(super) fn describe(of: &Usage<'_>, document: &mut Document) {
    document.heading("With curl");
    let user = if of.repository.record.private { "--user x:TOKEN " } else { "" };
    document.lines(format!("curl -fO {user}{}/PATH", of.url));
}
