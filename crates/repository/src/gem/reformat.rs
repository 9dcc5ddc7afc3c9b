//! Changes the format of `/info` while the repository serves. Each `/info` gets other bytes and another MD5, so one
//! commit both changes the setting and compacts `/versions` with the new MD5s.

use crate::author::Author;
use crate::error::{Error, Result};
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::{facts, render_info};
use crate::gem::rules::kept_info_format;
use crate::record::{IndexBase, RepositoryRecord};
use crate::repository::Repository;
use crate::visible;
use crate::workers::aside;
use format::gem::{self, info::FormatVersion};
use store::{Change, CommitError, Entry, Expect, Lane, Seq};
use telemetry::{Event, Millis, Op};

/// Number of gems that one read of the store returns.
const PAGE: usize = 1_000;
/// Maximum number of attempts if other repositories change meanwhile.
const TRIES: usize = 100;

/// Changes the form of `/info` to `format`. `false`: the settings of the repository have changed since they were read.
pub(crate) async fn reform(
    hosted: Hosted<'_>,
    format: FormatVersion,
    by: Author<'_>,
    event: &mut Event,
) -> Result<bool> {
    let (store, repository) = (hosted.store, hosted.repository);
    let (id, before) = (repository.id, &repository.record);
    let _alone = event.waited(Op::TurnWait, hosted.indexes.changing.write()).await;
    for _ in 0..TRIES {
        // Taken before the first read, so that every later change is noticed.
        let (seq, at) = (store.last(), store.now());
        let mut changes = said_anew(hosted, format, at, event).await?;
        let base = IndexBase { through: Seq(seq.0 + changes.len() as u64), created: at };
        let record =
            RepositoryRecord { info_format: kept_info_format(format), index_base: Some(base), ..before.clone() };
        changes.push(Change::Repository { id, record: record.stored()? });
        let unchanged = repository.unchanged();
        let expect = vec![unchanged, Expect::JournalAt(seq)];
        match store.commit(by.batch(at, expect, changes), event).await {
            Ok(_) => return Ok(true),
            Err(CommitError::Conflict(conflict))
                if matches!(conflict.0, Expect::JournalAt(_) | Expect::NoChangeAfter(_)) => {}
            Err(CommitError::Conflict(_)) => return Ok(false),
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(before.name.clone()))
}

/// The newest entry of each gem that has a published version, unchanged, with a new line for `/versions`.
async fn said_anew(hosted: Hosted<'_>, format: FormatVersion, at: Millis, event: &mut Event) -> Result<Vec<Change>> {
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

fn lines(entries: &[Entry], repository: &Repository, format: FormatVersion, at: Millis) -> Result<Vec<Change>> {
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
