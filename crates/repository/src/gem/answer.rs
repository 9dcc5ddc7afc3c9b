//! Answers the questions of a hosted repository of gems.

use crate::error::Error;
use crate::gem::{dependencies, describe, download, info, names, owners, push, specs, versions, yank};
use crate::question::{Actor, Ask, Found, Question};
use crate::repositories::Repositories;
use store::Staged;
use telemetry::{Event, Layer};

impl Repositories {
    /// Answers one question to a hosted repository of gems.
    pub(crate) async fn gems(
        &self,
        ask: &Ask,
        upload: Option<Staged>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found, Error> {
        event.layer = Layer::Hosted;
        let now = || self.clock.now();
        let hosted = self.hosted(&ask.repository, &ask.settings);
        match &ask.question {
            Question::Describe(ask) if hosted.repository.as_of.is_some() && !ask.what.is_of_versions() => {
                Err(Error::Unsupported("owners and what is looked for are told as they are, not as of a moment".into()))
            }
            Question::Versions => versions::versions(hosted, now(), event).await,
            Question::Names => names::names(hosted, now(), event).await,
            Question::Info(name) => info::info(hosted, name, now(), event).await,
            Question::Specs(file) => specs::specs(hosted, *file, now(), event).await,
            Question::Gem(full_name) => download::gem(hosted, full_name, now(), event).await,
            Question::Gemspec(full_name) => download::gemspec(hosted, full_name, now(), event).await,
            Question::Dependencies(names, form) => {
                dependencies::dependencies(hosted, &self.pieces, (names.as_deref(), *form), now(), event).await
            }
            Question::Download(full_name) => Ok(Found::Elsewhere(format!("../gems/{full_name}.gem"))),
            Question::Describe(ask) => describe::describe(hosted, ask, by, now(), event).await,
            Question::Own { name, person, change } => {
                owners::change(hosted, (name, person, *change), by, now, event).await
            }
            Question::Push => {
                let staged = upload.ok_or(Error::GivenUp)?;
                let _place = ask.repository.shared.changing.read().await;
                let now_set = async |event: &mut Event| self.again(&ask.repository, event).await;
                push::push(hosted, staged, (by, now), now_set, event).await
            }
            Question::Yank { name, number, platform } => {
                let _place = ask.repository.shared.changing.read().await;
                let now_set = async |event: &mut Event| self.again(&ask.repository, event).await;
                yank::yank(hosted, (name, number, platform), (by, now), now_set, event).await
            }
            Question::Root
            | Question::ClientSettings(_)
            | Question::Fetch(_)
            | Question::Deploy(_)
            | Question::Delete(_) => Err(Error::GivenUp), // answered before, or let through by nobody who reads URLs
        }
    }
}
