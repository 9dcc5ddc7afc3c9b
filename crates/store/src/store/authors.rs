//! The authors of publications, from the journal: several in one job.

use super::Store;
use crate::error::Result;
use crate::journal::record::{RepositoryId, Seq};
use crate::pool::lane::Lane;
use crate::truth::catalog::{Catalog, Subject};
use telemetry::{Event, Millis};

/// The most changes of one entry or unit that are looked at.
const CHANGES: usize = 100;

/// A change whose author is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthoredChange {
    /// Its repository.
    pub repository: RepositoryId,
    /// The key of an entry, or the name of a unit that has facts.
    pub name: String,
    /// Whether `name` is the key of an entry.
    pub is_entry: bool,
    /// The moment of the change. If there was none at that moment, the last change before it counts.
    pub at: Millis,
}

impl Store {
    /// The author of each of these changes; `None`: the journal has no such change.
    pub async fn authors(&self, changes: Vec<AuthoredChange>, event: &mut Event) -> Result<Vec<Option<String>>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.read(Lane::Index, event, move |truth| authors(truth, &changes)).await
    }
}

fn authors(truth: &mut dyn Catalog, changes: &[AuthoredChange]) -> Result<Vec<Option<String>>> {
    let last = truth.last()?;
    let mut found = vec![None; changes.len()];
    // The changes whose authors are not found yet, each with the last row that may be theirs. One look finds nearly all.
    let mut rest: Vec<(usize, Seq)> = (0..changes.len()).map(|at| (at, last)).collect();
    for _ in 0..CHANGES {
        let subject = |of: &(usize, Seq)| {
            let (change, through) = (&changes[of.0], of.1);
            let name = &*change.name;
            (change.repository, if change.is_entry { Subject::Entry(name) } else { Subject::Unit(name) }, through)
        };
        let subjects: Vec<_> = rest.iter().map(subject).collect();
        let rows = truth.authors_as_of(&subjects)?;
        let mut earlier = Vec::new();
        for ((at, _), row) in rest.into_iter().zip(rows) {
            match row {
                Some(row) if row.at <= changes[at].at => found[at] = Some(row.by),
                Some(row) => earlier.push((at, Seq(row.seq.0.saturating_sub(1)))),
                None => {}
            }
        }
        rest = earlier;
        if rest.is_empty() {
            break;
        }
    }
    Ok(found)
}
