//! What `/info` tells, changed while the repository serves. Each `/info` gets other bytes and another MD5, so in the one
//! moment in which the settings name the new form `/versions` begins anew, with the MD5s of that form.

use crate::error::Error;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::{facts, render_info};
use crate::gem::rules::kept_info_format;
use crate::record::{IndexBase, RepositoryRecord};
use crate::repository::Repository;
use crate::visible;
use crate::workers::aside;
use format::gem::{self, info::FormatVersion};
use store::{Batch, Change, CommitError, Entry, Expect, Lane, Seq};
use telemetry::{Event, Millis, Op};

/// Names asked of the store at once.
const PAGE: usize = 1_000;
/// How often it is tried while other repositories change meanwhile.
const TRIES: usize = 100;

/// Has `/info` tell what `format` says. `by` is the token's name.
pub(crate) async fn reform(
    hosted: Hosted<'_>,
    format: FormatVersion,
    by: &str,
    at: Millis,
    event: &mut Event,
) -> Result<(), Error> {
    let (store, repository) = (hosted.store, hosted.repository);
    let (id, before) = (repository.id, &repository.record);
    let _alone = hosted.indexes.changing.write().await;
    for _ in 0..TRIES {
        // Before the first read: whatever happens from here on is noticed.
        let seq = store.last();
        let mut changes = said_anew(hosted, format, at, event).await?;
        let base = IndexBase { through: Seq(seq.0 + changes.len() as u64), created: at };
        let record =
            RepositoryRecord { info_format: kept_info_format(format), index_base: Some(base), ..before.clone() };
        changes.push(Change::Repository { id, record: record.stored()? });
        let unchanged = Expect::RepositoryIs { id, record: Box::new((*repository.stored).clone()) };
        let expect = vec![unchanged, Expect::JournalAt(seq)];
        match store.commit(Batch { by: by.to_owned(), at, expect, changes }, event).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::JournalAt(_)) => {}
            Err(CommitError::Conflict(_)) => break,
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(before.name.clone()))
}

/// For each gem that is offered its newest entry once more, as it is, with the line that `/versions` has from now on.
async fn said_anew(
    hosted: Hosted<'_>,
    format: FormatVersion,
    at: Millis,
    event: &mut Event,
) -> Result<Vec<Change>, Error> {
    let (store, repository) = (hosted.store, hosted.repository);
    let (mut changes, mut after) = (Vec::new(), String::new());
    loop {
        let names = store.units(repository.id, &after, PAGE, event).await?;
        let Some(last) = names.last() else { return Ok(changes) };
        let entries = store.entries(repository.id, &after, last, event).await?;
        let (rows, seen_by) = (entries.len(), repository.clone());
        let render = move || lines(&entries, &seen_by, format, at);
        let more = aside(&hosted.context.workers, Lane::Index, Op::IndexRender, rows, event, render).await?;
        changes.extend(more);
        after.clone_from(last);
    }
}

fn lines(entries: &[Entry], repository: &Repository, format: FormatVersion, at: Millis) -> Result<Vec<Change>, Error> {
    let mut changes = Vec::new();
    for unit in entries.chunk_by(|a, b| a.unit == b.unit) {
        let Some(newest) = visible(unit, repository.whole(at)).last() else { continue };
        let (entry, package) = (newest.entry(), facts(newest.entry())?);
        let md5 = gem::info::md5_hex(&render_info(visible(unit, repository.whole(at)), format)?);
        let (number, platform) = (package.number.as_str(), &package.platform);
        let line = gem::versions::line(&entry.unit, gem::versions::Op::Push, number, platform, &md5);
        changes.push(Change::Entry { repository: repository.id, entry: Entry { line: Some(line), ..entry.clone() } });
    }
    Ok(changes)
}
