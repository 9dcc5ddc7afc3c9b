//! For explanations: who removed a hosted file, when and why, and how to restore it.

use crate::error::Result;
use crate::format::Format;
use crate::question::Ask;
use crate::repository::Repository;
use crate::services::Services;
use crate::visible::verb_of;
use std::sync::Arc;
use store::{BlobLife, Entry, JournalRow, RepositoryKind, State, Withdrawal};
use telemetry::{Event, Millis};

/// The most entries of a version that are looked at.
const PAGE: usize = 1_000;

/// A removed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRemoval {
    /// The action, its moment, its author and its reason, and the state of the bytes.
    pub(crate) text: String,
    /// How to restore it, and until when.
    pub(crate) hint: String,
}

/// The facts about a withdrawn entry.
struct Removed<'a> {
    repository: &'a str,
    format: Format,
    entry: &'a Entry,
    /// The version that it was removed with.
    whole: Option<String>,
    /// The row that withdrew it.
    row: Option<&'a JournalRow>,
    /// When its bytes were deleted, if they were.
    deleted: Option<Millis>,
}

/// The removal of the hosted file of the question, or of the file whose checksum or gemspec the question is about;
/// `None`: it was not removed.
pub(crate) async fn removal_of(services: &Services, ask: &Ask<'_>, event: &mut Event) -> Option<FileRemoval> {
    let question = &ask.question;
    let keys: Vec<&str> = [question.file(), question.derived_from()].into_iter().flatten().collect();
    let hosted = |one: &&Arc<Repository>| one.record.kind == RepositoryKind::Hosted;
    for repository in ask.repository.leaves.iter().chain([&ask.repository]).filter(hosted) {
        for key in &keys {
            // An unreadable row only shortens the explanation.
            if let Ok(Some(removal)) = removal_at(services, repository, key, event).await {
                return Some(removal);
            }
        }
    }
    None
}

async fn removal_at(
    services: &Services,
    repository: &Repository,
    key: &str,
    event: &mut Event,
) -> Result<Option<FileRemoval>> {
    let entry = services.store.entry(repository.id, key, event).await?;
    let Some(entry) = entry.filter(|entry| entry.state == State::Withdrawn) else { return Ok(None) };
    let row = services.store.last_row_of(repository.id, key, event).await?;
    let deleted = services.store.collected(entry.hashes.sha256, event).await?;
    let (name, format) = (&repository.record.name, repository.format);
    let whole = went_with_version(services, repository, &entry, event).await;
    let removed = Removed { repository: name, format, entry: &entry, whole, row: row.as_ref(), deleted };
    let life = services.store.blob_life();
    Ok(Some(FileRemoval { text: removed.text(life), hint: removed.hint(life, services.store.now()) }))
}

/// The version of a file, in the form of commands, if other files of it were removed with it and none later: then one command restores them all.
async fn went_with_version(
    services: &Services,
    repository: &Repository,
    entry: &Entry,
    event: &mut Event,
) -> Option<String> {
    let (folder, name) = repository.format.rules().version_folder(&entry.key)?;
    // An unreadable folder only shortens the hint.
    let rows = services.store.entries_beginning(repository.id, &folder, "", PAGE, event).await.ok()?;
    let gone = || rows.iter().filter(|row| row.state == State::Withdrawn);
    let with = gone().filter(|row| row.changed == entry.changed).count();
    let is_last = gone().all(|row| row.changed <= entry.changed);
    (with > 1 && is_last).then_some(name)
}

impl Removed<'_> {
    fn text(&self, life: &BlobLife) -> String {
        let withdrawal = self.entry.withdrawal.as_ref();
        let did = verb_of(withdrawal, self.format);
        let why = match withdrawal {
            Some(Withdrawal::Cleanup { rule, .. }) => format!(", by the rule `{rule}`"),
            Some(Withdrawal::Purged { why }) => format!(", because: {why}"),
            _ => String::new(),
        };
        let by = self.row.map(author).unwrap_or_default();
        let bytes = match self.deleted {
            Some(at) => format!("its bytes were deleted on {at}"),
            None => format!("its bytes are deleted on {} at the earliest", self.bytes_until(life)),
        };
        let key = &self.entry.key;
        format!("`{key}` was {did} in `{}` on {}{by}{why}; {bytes}", self.repository, self.entry.changed)
    }

    /// How long its bytes are kept for this entry alone.
    fn bytes_until(&self, life: &BlobLife) -> Millis {
        let period = self.entry.changed.plus(self.entry.keep().period(life));
        if matches!(self.entry.withdrawal, Some(Withdrawal::Purged { .. })) {
            return period;
        }
        period.plus(life.collect_after)
    }

    fn hint(&self, life: &BlobLife, now: Millis) -> String {
        let Self { repository, entry, .. } = self;
        if matches!(entry.withdrawal, Some(Withdrawal::Purged { .. })) {
            return "a purge cannot be undone: publish another version".to_owned();
        }
        let Some(until) = self.restorable_until(life) else { return self.hint_of_yank(life, now) };
        let what = self.whole.clone().unwrap_or_else(|| self.format.rules().restored_as(entry));
        if until < now || self.deleted.is_some() {
            return format!(
                "until {until} `daylight repo restore` could bring it back; a backup from before may have it"
            );
        }
        let retention = match entry.withdrawal {
            Some(Withdrawal::Pruned) => "; change its retention first, which removes it again",
            _ => "",
        };
        format!("until {until} `daylight repo restore {repository} {what}` brings it back{retention}")
    }

    /// The end of the time in which an operator can restore it; `None`: its owners undo a yank, and no operator does.
    fn restorable_until(&self, life: &BlobLife) -> Option<Millis> {
        match &self.entry.withdrawal {
            Some(Withdrawal::Pruned) => Some(self.entry.changed.plus(life.undo.min(life.collect_after))),
            Some(Withdrawal::Cleanup { .. }) => Some(self.entry.changed.plus(life.undo)),
            _ if self.format.rules().has_yanks() => None,
            _ => Some(self.entry.changed.plus(life.undo)),
        }
    }

    fn hint_of_yank(&self, life: &BlobLife, now: Millis) -> String {
        let Self { repository, entry, .. } = self;
        let (until, undo_until) = (entry.changed.plus(life.horizon), entry.changed.plus(life.undo));
        if until < now || self.deleted.is_some() {
            return "the yank cannot be undone any more: publish another version".to_owned();
        }
        let published = entry.published;
        let instead = match undo_until < now {
            true => "the yank cannot be undone any more: publish another version".to_owned(),
            false => format!(
                "until {undo_until} its owners can undo the yank (`PUT api/v1/gems/unyank`, or `gem yank --undo` of RubyGems before 3)"
            ),
        };
        format!("{instead}; until {until} `{repository}@{published}` still has it")
    }
}

/// The author and the origin of a change.
fn author(row: &JournalRow) -> String {
    match row.from.as_str() {
        "server" => " by the server".to_owned(),
        "" => format!(" by `{}`", row.by),
        from => format!(" by `{}` from {from}", row.by),
    }
}
