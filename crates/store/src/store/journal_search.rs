//! Searches the journal, page by page.

use super::Store;
use crate::error::{Error, Result};
use crate::journal::change::Change;
use crate::journal::entry::State;
use crate::journal::record::{RepositoryId, RepositoryRecord, Seq};
use crate::pool::lane::Lane;
use crate::truth::catalog::{Catalog, JournalRow, Subject};
use std::collections::{HashMap, HashSet};
use telemetry::{Event, give_way};

/// The number of rows that are read at once. A row has at most some megabytes.
const PART: u64 = 64;
/// The most rows, or bytes of them, that are searched for one page. The next page continues the search.
const SCAN_ROWS: u64 = 20_000;
const SCAN_BYTES: usize = 32 << 20;
/// In the text of each row that changed a repository, and of hardly any other.
const REPOSITORY: &str = r#""change":"repository""#;

/// The range of rows that a page searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalRange {
    /// The number of the last row before the range.
    pub after: Seq,
    /// The number of the last row in the range.
    pub through: Seq,
    /// Whether the search starts at the last row and goes backwards.
    pub newest: bool,
}

/// The rows that were found.
#[derive(Debug, Default)]
pub struct JournalPage {
    /// Ordered by number.
    pub rows: Vec<JournalRow>,
    /// Where the next page starts: after this row, or before it if the search goes backwards. `None`: this page is the last.
    pub next: Option<Seq>,
    /// The records of the rows' repositories when they were created.
    pub repositories: HashMap<RepositoryId, RepositoryRecord>,
    /// For rows that changed a repository: the record before each. Rows whose record is too far back in the journal are left out.
    pub before: HashMap<Seq, RepositoryRecord>,
    /// The rows that published an entry again which was withdrawn.
    pub restored: HashSet<Seq>,
}

impl Store {
    /// The rows in a range for which `wanted` returns true, at most `limit`. There may be fewer on a page that is not the last.
    pub async fn search_journal(
        &self,
        range: JournalRange,
        limit: usize,
        wanted: impl Fn(&JournalRow) -> bool + Send + 'static,
        event: &mut Event,
    ) -> Result<JournalPage> {
        self.read(Lane::Index, event, move |truth| search(truth, range, limit, &wanted)).await
    }
}

fn search(
    truth: &mut dyn Catalog,
    range: JournalRange,
    limit: usize,
    wanted: &dyn Fn(&JournalRow) -> bool,
) -> Result<JournalPage> {
    let JournalRange { mut after, mut through, newest } = range;
    through = through.min(truth.last()?);
    let (mut page, mut rows_left, mut bytes_left) = (JournalPage::default(), SCAN_ROWS, SCAN_BYTES);
    while after < through && page.next.is_none() {
        let count = PART.min(through.0 - after.0);
        let from = if newest { Seq(through.0 - count) } else { after };
        let mut part = truth.journal_text(from, usize::try_from(count).unwrap_or(usize::MAX), usize::MAX)?;
        if newest {
            part.reverse();
        }
        for (seq, text) in part {
            give_way();
            rows_left = rows_left.saturating_sub(1);
            bytes_left = bytes_left.saturating_sub(text.len());
            let row: JournalRow = serde_json::from_str(&text).map_err(Error::row(seq))?;
            let row = JournalRow { at: truth.moment_of(seq, row.at)?, ..row };
            if wanted(&row) {
                page.rows.push(row);
            }
            (after, through) = if newest { (after, Seq(seq.0 - 1)) } else { (seq, through) };
            let ends = page.rows.len() == limit || rows_left == 0 || bytes_left == 0;
            if ends && after < through {
                page.next = Some(seq);
            }
            if ends {
                break;
            }
        }
    }
    if newest {
        page.rows.reverse();
    }
    page.repositories = made(truth, &page.rows)?;
    page.before = before(truth, &page.rows)?;
    page.restored = restored(truth, &page.rows)?;
    Ok(page)
}

/// For each row that changed a repository, the record that it replaced. Reads back as many rows as a page may look at.
fn before(truth: &mut dyn Catalog, rows: &[JournalRow]) -> Result<HashMap<Seq, RepositoryRecord>> {
    let (mut found, mut sought) = (HashMap::new(), HashMap::<RepositoryId, Vec<Seq>>::new());
    for row in rows {
        match &row.change {
            Change::Repository { id, .. } if id.0 < row.seq.0 => sought.entry(*id).or_default().push(row.seq),
            _ => {}
        }
    }
    let newest = sought.values().flatten().map(|seq| seq.0).max().unwrap_or_default();
    let (mut through, mut rows_left, mut bytes_left) = (newest.saturating_sub(1), SCAN_ROWS, SCAN_BYTES);
    while through > 0 && rows_left > 0 && bytes_left > 0 && !sought.is_empty() {
        let count = PART.min(through);
        let part =
            truth.journal_text(Seq(through - count), usize::try_from(count).unwrap_or(usize::MAX), usize::MAX)?;
        for (seq, text) in part.into_iter().rev() {
            give_way();
            rows_left = rows_left.saturating_sub(1);
            bytes_left = bytes_left.saturating_sub(text.len());
            // Most rows are of packages, and need not be parsed.
            if !text.contains(REPOSITORY) {
                continue;
            }
            let row: JournalRow = serde_json::from_str(&text).map_err(Error::row(seq))?;
            let Change::Repository { id, record } = row.change else { continue };
            let Some(later) = sought.get_mut(&id) else { continue };
            found.extend(later.extract_if(.., |later| *later > seq).map(|later| (later, record.clone())));
            if later.is_empty() {
                sought.remove(&id);
            }
        }
        through -= count;
    }
    Ok(found)
}

/// The rows whose entry was withdrawn by the last change before.
fn restored(truth: &mut dyn Catalog, rows: &[JournalRow]) -> Result<HashSet<Seq>> {
    let mut restored = HashSet::new();
    for row in rows {
        let Change::Entry { repository, entry } = &row.change else { continue };
        if entry.state != State::Live || entry.published == row.at {
            continue;
        }
        give_way();
        let before = truth.row_as_of(*repository, Subject::Entry(&entry.key), Seq(row.seq.0 - 1))?;
        if let Some(Change::Entry { entry, .. }) = before.map(|before| before.change)
            && entry.state == State::Withdrawn
        {
            restored.insert(row.seq);
        }
    }
    Ok(restored)
}

/// The repositories of the rows. A repository's id is the number of the row that created it.
fn made(truth: &mut dyn Catalog, rows: &[JournalRow]) -> Result<HashMap<RepositoryId, RepositoryRecord>> {
    let mut repositories = HashMap::new();
    for id in rows.iter().filter_map(|row| row.change.repository()) {
        if repositories.contains_key(&id) {
            continue;
        }
        let row = truth.journal(Seq(id.0.saturating_sub(1)), 1)?.pop();
        if let Some(Change::Repository { record, .. }) = row.map(|row| row.change) {
            repositories.insert(id, record);
        }
    }
    Ok(repositories)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::catalog::JournalReads as _;
    use crate::truth::model::Model;
    use crate::truth::suite;

    fn numbers(page: &JournalPage) -> Vec<u64> {
        page.rows.iter().map(|row| row.seq.0).collect()
    }

    /// Reads all pages, and returns the numbers of their rows in the order of the pages.
    fn all(truth: &mut Model, newest: bool, limit: usize, wanted: &dyn Fn(&JournalRow) -> bool) -> Vec<Vec<u64>> {
        let (mut pages, mut range) = (Vec::new(), JournalRange { after: Seq(0), through: Seq(u64::MAX), newest });
        loop {
            let page = search(truth, range, limit, wanted).unwrap();
            pages.push(numbers(&page));
            match page.next {
                None => return pages,
                Some(next) if newest => range.through = Seq(next.0 - 1),
                Some(next) => range.after = next,
            }
        }
    }

    #[test]
    fn pages_go_forward_from_the_oldest_and_back_from_the_newest_and_miss_nothing() {
        let mut truth = Model::default();
        suite::made(&mut truth, (1..=200).map(|number| suite::publish("rack", 1 + number % 90)).collect());
        let last = truth.last().unwrap().0;
        let even = |row: &JournalRow| row.seq.0.is_multiple_of(2);
        let evens: Vec<u64> = (1..=last).filter(|seq: &u64| seq.is_multiple_of(2)).collect();
        let forward = all(&mut truth, false, 7, &even);
        assert!(forward.iter().all(|page| page.len() <= 7) && forward.concat() == evens);
        let mut back = all(&mut truth, true, 7, &even);
        assert!(back.iter().all(|page| page.len() <= 7));
        back.reverse();
        assert_eq!(back.concat(), evens);
        assert_eq!(all(&mut truth, true, 1_000, &|_| false), [Vec::<u64>::new()]);
    }

    #[test]
    fn rows_that_changed_a_repository_come_with_the_record_before() {
        let mut truth = Model::default();
        suite::made(&mut truth, vec![suite::repository(0, "a", &[], false)]);
        let id = truth.last().unwrap().0;
        suite::made(&mut truth, (1..=100).map(|number| suite::publish("rack", number)).collect());
        suite::made(&mut truth, vec![suite::repository(id, "b", &[], false)]);
        let middle = truth.last().unwrap();
        suite::made(&mut truth, vec![suite::repository(id, "c", &[], false)]);
        let last = truth.last().unwrap();
        let is_repository = |row: &JournalRow| matches!(row.change, Change::Repository { .. });
        for newest in [true, false] {
            let range = JournalRange { after: Seq(id), through: Seq(u64::MAX), newest };
            let page = search(&mut truth, range, 10, &is_repository).unwrap();
            let names: Vec<_> = [middle, last].iter().map(|seq| page.before[seq].name.as_str()).collect();
            assert_eq!((names, page.before.len()), (vec!["a", "b"], 2));
        }
    }

    #[test]
    fn rows_that_published_a_withdrawn_entry_again_are_told_from_other_changes() {
        let mut truth = Model::default();
        let rows = [
            suite::publish("rack", 1),
            suite::publish("rack", 1),
            suite::withdraw("rack", 1),
            suite::publish("rack", 1),
        ];
        for row in rows {
            suite::made(&mut truth, vec![row]);
        }
        let range = JournalRange { after: Seq(0), through: Seq(u64::MAX), newest: false };
        let page = search(&mut truth, range, 10, &|_| true).unwrap();
        assert_eq!(page.restored, HashSet::from([truth.last().unwrap()]));
    }

    #[test]
    fn rows_name_their_repository_as_it_was_made() {
        let mut truth = Model::default();
        // A new repository takes the number of its change.
        suite::made(&mut truth, vec![suite::repository(0, "a", &[], false)]);
        suite::made(&mut truth, vec![suite::publish("rack", 1)]);
        let range = JournalRange { after: Seq(0), through: Seq(u64::MAX), newest: false };
        let page = search(&mut truth, range, 10, &|_| true).unwrap();
        let id = page.rows.last().unwrap().change.repository().unwrap();
        assert_eq!(page.rows[0].change.repository(), Some(id));
        assert!(page.repositories.contains_key(&id));
    }
}
