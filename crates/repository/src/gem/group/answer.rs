//! Answers the questions of a group of gem repositories.

use crate::actor::Actor;
use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::group::GroupGems;
use crate::gem::group::file::{Part, download};
use crate::gem::{Found, Question, parameters};
use crate::group::is_hosted;
use format::gem::call::Call;
use telemetry::{Event, Layer};

impl GroupGems<'_> {
    /// Answers one question.
    pub(crate) async fn answer(self, question: &Question<'_>, by: Actor<'_>, event: &mut Event) -> Result<Any, Error> {
        let answer = Box::pin(self.answer_from_members(question, by, event)).await;
        event.layer = Layer::Group;
        self.order_members(event);
        if !self.local.repository.asks {
            self.explain(question, event).await?;
        }
        answer
    }

    async fn answer_from_members(
        self,
        question: &Question<'_>,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Any, Error> {
        match *question {
            Question::Root => Ok(Any::Root),
            Question::Settings(_) => Err(Error::GivenUp), // answered before
            Question::Versions => self.versions(event).await.map(|index| Any::Gem(Found::Index(index))),
            Question::Info(name) => self.info(name, event).await.map(|index| Any::Gem(Found::Index(index))),
            Question::Gem(full_name) => self.file(Part::Gem, full_name, event).await,
            Question::Gemspec(full_name) => self.file(Part::Gemspec, full_name, event).await,
            Question::Call(Call::Attestations(full_name), _) => self.file(Part::Attestations, full_name, event).await,
            Question::Download(full_name) => Ok(download(full_name)),
            Question::Dependencies(form) => {
                let names = parameters::names(&self.ask.parameters)?;
                event.more_mut().sized(names.as_deref().map_or(0, <[String]>::len));
                self.dependencies(names.as_deref(), form, event).await.map(Any::Gem)
            }
            Question::Names => self.names(event).await.map(|index| Any::Gem(Found::Index(index))),
            Question::Specs(file) => self.specs(file, event).await.map(Any::Gem),
            Question::Call(call, form) => self.call(call, form, by, event).await.map(Any::Gem),
            Question::Push | Question::Yank | Question::Unyank | Question::Own(..) => Err(self.unsupported()),
        }
    }

    /// The refusal of a change, with the members that accept it.
    fn unsupported(self) -> Error {
        let hosted = self.leaves().iter().filter(|leaf| is_hosted(leaf));
        let names: Vec<String> = hosted.map(|leaf| format!("`{}`", leaf.record.name)).collect();
        let name = &self.local.repository.record.name;
        let text = match names.is_empty() {
            true => format!("`{name}` is a group, which takes no changes, and has no hosted member"),
            false => {
                format!("`{name}` is a group, which takes no changes: its hosted members do ({})", names.join(", "))
            }
        };
        Error::Unsupported(text)
    }
}
