//! Reads of the journal, and of the state as of an earlier change.

use super::journal_row::{Authorship, JournalRow};
use super::rows::{FirstSeen, Subject};
use crate::error::Result;
use crate::journal::change::Change;
use crate::journal::record::{RepositoryId, Seq};
use serde_json::Value;
use telemetry::Millis;

/// Reads of the journal and of the tables derived from it.
pub trait JournalReads {
    /// The number of the last change.
    fn last(&mut self) -> Result<Seq>;

    /// The moment of the last change; `None`: there is none.
    fn last_moment(&mut self) -> Result<Option<Millis>>;

    /// The rows after `after`, as they were written.
    fn journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>>;

    /// The moment as of which the row `seq` counts, which was written at `at`: a later row may redate it
    /// ([`Change::Redate`]). All other reads here return such moments.
    fn moment_of(&mut self, seq: Seq, at: Millis) -> Result<Millis>;

    /// The rows after `after`, with the moments as of which they count.
    fn dated_journal(&mut self, after: Seq, limit: usize) -> Result<Vec<JournalRow>> {
        let mut rows = self.journal(after, limit)?;
        for row in &mut rows {
            row.at = self.moment_of(row.seq, row.at)?;
        }
        Ok(rows)
    }

    /// The rows after `after` as they are stored, each one line of JSON. Segments contain the same bytes. Ends after `limit`
    /// rows, or before the row that would exceed `max_bytes`, but returns at least one.
    fn journal_text(&mut self, after: Seq, limit: usize, max_bytes: usize) -> Result<Vec<(Seq, String)>>;

    /// The row of the last change of an entry or of a unit's facts up to `through`. `None`: there was none.
    fn row_as_of(&mut self, repository: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<JournalRow>>;

    /// The authors of several such rows, all as of one moment.
    fn authors_as_of(&mut self, of: &[(RepositoryId, Subject<'_>, Seq)]) -> Result<Vec<Option<Authorship>>>;

    /// The change of that row only.
    fn state_as_of(&mut self, repository: RepositoryId, of: Subject<'_>, through: Seq) -> Result<Option<Change>> {
        Ok(self.row_as_of(repository, of, through)?.map(|row| row.change))
    }

    /// Units whose names begin with `prefix` and come after `after`, and which had facts of their own as of the change `through`.
    /// Ordered by name, at most `limit`.
    fn units_with_facts_as_of(
        &mut self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
        through: Seq,
    ) -> Result<Vec<(String, Value)>>;

    /// The first-seen rows of a unit up to the change `through`, oldest first, starting with the last complete one.
    fn first_seen(&mut self, repository: RepositoryId, unit: &str, through: Seq) -> Result<Vec<FirstSeen>>;

    /// Roughly the disk space that the first-seen rows of each repository take.
    fn first_seen_bytes(&mut self) -> Result<Vec<(RepositoryId, u64)>>;

    /// Index lines of a repository after `after`, ordered by number, at most `limit`.
    fn lines(&mut self, repository: RepositoryId, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>>;

    /// The number of the last index line of a repository up to `through`; 0: there was none.
    fn last_line(&mut self, repository: RepositoryId, through: Seq) -> Result<Seq>;
}
