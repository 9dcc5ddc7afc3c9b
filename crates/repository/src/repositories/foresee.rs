//! What would be answered, without asking any upstream: the code that answers, with repositories that ask none.

use crate::actor::Actor;
use crate::error::Error;
use crate::found::Found;
use crate::question::Ask;
use crate::record::RepositoryRecord;
use crate::repositories::list::{self, ReadRecord};
use crate::repositories::{Repositories, members};
use crate::repository::{Repository, RepositoryTable};
use std::sync::Arc;
use store::{Entry, RepositoryKind};
use telemetry::{Event, MemberRecord, MemberSaid};

/// What would come of a question.
#[derive(Debug)]
pub enum Foreseen {
    /// This, while nothing changes.
    Answer {
        /// The answer.
        answer: Box<Result<Found, Error>>,
        /// Of a file that somebody took away: how it comes back, or until when it did.
        hint: Option<String>,
    },
    /// It depends on the upstream of the member of that name, which would be asked.
    Depends(String),
}

impl Repositories {
    /// What would come of `ask`, which changes nothing. The event is told as if it had been asked.
    pub async fn foresee(&self, ask: &Ask<'_>, by: Actor<'_>, event: &mut Event) -> Foreseen {
        let ask = Ask { repository: Arc::new(ask.repository.unasked()), ..ask.clone() };
        // Not what is open: that would not tell who has it.
        let answer = self.dispatch(&ask, None, by, event).await;
        let unknown = |record: &&MemberRecord| record.said == MemberSaid::Unknown;
        let decides =
            |record: &&MemberRecord| unknown(record) || matches!(record.said, MemberSaid::Hit | MemberSaid::Stale);
        // Who is unknown and stands before whoever has it may have it; and a document that all make together is answered.
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
            && let Some(removal) = self.removal_of(&ask, event).await
        {
            event.detail = match &*event.detail {
                "" => removal.text,
                detail => format!("{detail}; {}", removal.text),
            };
            hint = Some(removal.hint);
        }
        Foreseen::Answer { answer: Box::new(answer), hint }
    }

    /// Adds to the details of the event when the hosted file that answers `ask`, or is hidden, was published here and at its origin.
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
        // What cannot be read is missing in the explanation only.
        let Ok(Some(entry)) = hosted.entry(&self.store, key, event).await else { return };
        let dates = describe_dates(&entry);
        event.detail = match &*event.detail {
            "" => dates,
            detail => format!("{dates}; {detail}"),
        };
    }

    /// The repositories as they would be with other settings of one of them, which must be such as can be.
    pub async fn with_settings(
        &self,
        name: &str,
        change: impl FnOnce(&mut RepositoryRecord) -> Result<(), Error> + Send,
        event: &mut Event,
    ) -> Result<RepositoryTable, Error> {
        let known = self.table(event).await?;
        let (repository, _) = self.find(name, event).await?;
        let mut record = repository.record.clone();
        change(&mut record)?;
        record.date_members(&repository.record, self.store.now());
        self.check(&mut record, event).await?;
        members::check(&record, &known, &[])?;
        let others = known.by_name.values().filter(|one| one.id != repository.id);
        let read = |one: &Repository, record| ReadRecord { id: one.id, record, stored: one.stored.clone() };
        let mut records: Vec<_> = others.map(|one| read(one, one.record.clone())).collect();
        records.push(read(&repository, record));
        list::build_table(records, known.at, Some(&known), &self.room, known.stamp)
    }
}

/// When an entry was published, in words.
fn describe_dates(entry: &Entry) -> String {
    let here = format!("published here at {}", entry.published);
    let Some(origin) = &entry.origin else { return here };
    let by = origin.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    format!("{here}, at its origin at {}{by}, as `{}` claimed", origin.at, origin.claimed_by)
}
