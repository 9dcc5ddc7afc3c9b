//! What one gem has in each of the three files of the older index.

#[cfg(test)]
mod tests;

use crate::error::Error;
use crate::gem::indexes::specs::GemParts;
use crate::index::rope::chunks::ChunkPart;
use crate::policy::rules::View;
use crate::visible;
use crate::visible::Row;
use format::gem::{Identity, dependencies, specs};
use store::{Facts, Outline};

/// What one gem has in each of the three files, newest first. Its first element defines the symbols again, so that it may
/// stand anywhere; all others link to those of the first in the file.
pub(crate) fn parts(name: &str, rows: &[Outline], view: View<'_>) -> Result<GemParts, Error> {
    parts_of(name, rows, view, |row| identity(name, &row.facts))
}

/// The same of rows of any kind. `identity` tells which version a row is.
pub(crate) fn parts_of<R: Row>(
    name: &str,
    rows: &[R],
    view: View<'_>,
    identity: impl Fn(&R) -> Result<Identity, Error>,
) -> Result<GemParts, Error> {
    let seen = visible(rows, view).map(|seen| identity(seen.entry()));
    Ok(parts_of_versions(name, seen.collect::<Result<_, Error>>()?))
}

/// The same of these versions.
pub(crate) fn parts_of_versions(name: &str, mut versions: Vec<Identity>) -> GemParts {
    versions.sort_by(|a, b| (&b.number, &b.platform).cmp(&(&a.number, &a.platform)));
    let latest = specs::latest(versions.iter().map(|version| (&version.number, version.platform.as_str())));
    let file = |these: Vec<&Identity>| {
        let mut part = ChunkPart::default();
        for version in these {
            let first = part.count == 0;
            specs::tuple(&mut part.bytes, name, version.number.as_str(), &version.platform, first);
            part.count += 1;
        }
        part
    };
    let (young, released) = versions.iter().partition(|version| version.number.prerelease());
    [file(released), file(latest.into_iter().map(|at| &versions[at]).collect()), file(young)]
}

/// Entries that an older version of this program wrote have no facts in brief, and are read whole.
fn identity(name: &str, facts: &Facts) -> Result<Identity, Error> {
    match facts {
        Facts::Brief(brief) => Ok(dependencies::identity(brief)?),
        Facts::Whole(facts) => {
            let unreadable = |source| Error::Unreadable { key: name.to_owned(), source };
            serde_json::from_str(facts.get()).map_err(unreadable)
        }
    }
}
