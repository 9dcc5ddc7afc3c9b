//! Predicts an answer without calling any upstream. It runs the code that answers, on repositories that call none.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::found::Found;
use crate::question::Ask;
use crate::record::RepositoryRecord;
use crate::repositories::change::check;
use crate::repositories::file_removal::removal_of;
use crate::repositories::{Repositories, members};
use crate::repository::RepositoryTable;
use crate::services::list;
use std::sync::Arc;
use store::{Entry, RepositoryKind};
use telemetry::{Event, MemberRecord, MemberSaid};

/// The predicted answer to a question.
#[derive(Debug)]
pub enum Foreseen {
    /// This answer, if nothing changes until then.
    Answer {
        /// The answer.
        answer: Box<Result<Found>>,
        /// For a removed file: how to restore it, or until when that was possible.
        hint: Option<String>,
    },
    /// It depends on the upstream of the member of this name, which would be called.
    Depends(String),
}

impl Repositories {
    /// Predicts the answer to `ask` and changes nothing. It fills the event as the request would.
    pub async fn foresee(&self, ask: &Ask<'_>, by: Actor<'_>, event: &mut Event) -> Foreseen {
        let ask = Ask { repository: Arc::new(ask.repository.unasked()), ..ask.clone() };
        // No open file: an open file would hide which member has it.
        let answer = self.dispatch(&ask, None, by, event).await;
        let unknown = |record: &&MemberRecord| record.said == MemberSaid::Unknown;
        let decides =
            |record: &&MemberRecord| unknown(record) || matches!(record.said, MemberSaid::Hit | MemberSaid::Stale);
        // A member whose state is unknown may have the file if it comes before the member that has it. A merged
        // document has an answer in any case.
        let depends = match &answer {
            Err(Error::Unasked) => event.members.iter().find(unknown),
            Ok(_) if ask.subject().kind != "metadata" => event.members.iter().find(decides).filter(unknown),
            _ => None,
        };
        if let Some(record) = depends {
            return Foreseen::Depends(record.member.clone());
        }
        if matches!(answer, Ok(_) | Err(Error::Hidden(_))) {
            self.tell_dates(&ask, event).await;
        }
        let mut hint = None;
        if answer.is_err()
            && let Some(removal) = removal_of(&self.services, &ask, event).await
        {
            event.detail = match &*event.detail {
                "" => removal.text,
                detail => format!("{detail}; {}", removal.text),
            };
            hint = Some(removal.hint);
        }
        Foreseen::Answer { answer: Box::new(answer), hint }
    }

    /// Adds the date of publication here, and of the original publication, to the event. This covers hidden files too.
    async fn tell_dates(&self, ask: &Ask<'_>, event: &mut Event) {
        let Some(key) = ask.question.file() else { return };
        let hit = event.members.iter().find(|record| record.said == MemberSaid::Hit).map(|record| &*record.member);
        let hosted = match ask.repository.record.kind {
            RepositoryKind::Hosted => Some(&ask.repository),
            _ => ask
                .repository
                .leaves
                .iter()
                .find(|leaf| leaf.record.kind == RepositoryKind::Hosted && Some(&*leaf.record.name) == hit),
        };
        let Some(hosted) = hosted else { return };
        // An unreadable row only shortens the explanation.
        let Ok(Some(entry)) = hosted.entry(&self.services.store, key, event).await else { return };
        let dates = describe_dates(&entry);
        event.detail = match &*event.detail {
            "" => dates,
            detail => format!("{dates}; {detail}"),
        };
    }

    /// The repositories as they would be with other, valid settings of one of them.
    pub async fn with_settings(
        &self,
        name: &str,
        change: impl FnOnce(&mut RepositoryRecord) -> Result<()> + Send,
        event: &mut Event,
    ) -> Result<RepositoryTable> {
        let known = self.table(event).await?;
        let (repository, _) = self.find(name, event).await?;
        let mut record = repository.record.clone();
        change(&mut record)?;
        record.date_members(&repository.record, self.services.store.now());
        check(&self.services, &mut record, event).await?;
        members::check(&record, &known, &[])?;
        list::table_with(&self.services.room, &known, Some(&repository), record)
    }
}

/// The dates of an entry's publication, in words.
fn describe_dates(entry: &Entry) -> String {
    let here = format!("published here at {}", entry.published);
    let Some(origin) = &entry.origin else { return here };
    let by = origin.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    format!("{here}, at its origin at {}{by}, as `{}` claimed", origin.at, origin.claimed_by)
}
