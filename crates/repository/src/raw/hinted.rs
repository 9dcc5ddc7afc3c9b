//! How hints of hooks apply to a repository of raw files.

use crate::hints::announcement::Announcement;
use crate::hints::hint::Hint;
use crate::upstream::hinted::HintedFiles;
use format::tree;

/// Hints are checked with the file itself.
pub(crate) const FILES: HintedFiles = HintedFiles { hint, documents, about, tells: |_, _| true };

/// The hint: a path, or a folder. Raw files have no versions.
fn hint(said: &Announcement) -> Hint {
    let path = said.path.as_deref().unwrap_or_default().trim_matches('/');
    match tree::check_raw(path) {
        Ok(()) => Hint { package: path.to_owned(), ..Hint::anything() },
        Err(_) => Hint::anything(),
    }
}

fn documents(hint: &Hint) -> Vec<String> {
    about(hint).into_iter().filter(|path| !path.is_empty()).collect()
}

/// The path and its folder. Their cached answers are voided together.
fn about(hint: &Hint) -> Vec<String> {
    vec![hint.package.clone()]
}
