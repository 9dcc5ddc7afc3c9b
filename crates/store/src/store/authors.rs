//! The authors of publications, from the journal: several in one job.

use super::Store;
use crate::catalog::{Catalog, Subject};
use crate::error::Error;
use crate::lane::Lane;
use crate::record::{RepositoryId, Seq};
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
    pub async fn authors(&self, changes: Vec<AuthoredChange>, event: &mut Event) -> Result<Vec<Option<String>>, Error> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let read = move |truth: &mut dyn Catalog| {
            let last = truth.last()?;
            changes.iter().map(|change| author(truth, change, last)).collect()
        };
        self.read(Lane::Index, event, read).await
    }
}

fn author(truth: &mut dyn Catalog, of: &AuthoredChange, last: Seq) -> Result<Option<String>, Error> {
    let mut through = last;
    for _ in 0..CHANGES {
        let subject = if of.is_entry { Subject::Entry(&of.name) } else { Subject::Unit(&of.name) };
        match truth.row_as_of(of.repository, subject, through)? {
            Some(row) if row.at <= of.at => return Ok(Some(row.by)),
            Some(row) => through = Seq(row.seq.0.saturating_sub(1)),
            None => break,
        }
    }
    Ok(None)
}
