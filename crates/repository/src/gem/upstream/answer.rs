//! Answers the questions of a remote repository of gems.

use crate::content::soonest;
use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::look::LOOK_EVERY_MS;
use crate::gem::{Found, Question, parameters};
use crate::index::document::Index;
use crate::parameters::Parameters;
use crate::tree;
use format::gem::call::Call;
use telemetry::{Event, Layer, Millis};

impl RemoteGems<'_> {
    /// Answers one question.
    pub(crate) async fn answer(
        self,
        question: &Question<'_>,
        asked: &Parameters<'_>,
        event: &mut Event,
    ) -> Result<Any, Error> {
        event.layer = Layer::Remote;
        let answer = Box::pin(self.answer_from_index(question, asked, event)).await;
        if !self.remote.repository.asks {
            self.explain(question, event).await;
        }
        answer
    }

    async fn answer_from_index(
        self,
        question: &Question<'_>,
        asked: &Parameters<'_>,
        event: &mut Event,
    ) -> Result<Any, Error> {
        match *question {
            Question::Root => Ok(Any::Root),
            Question::Versions => self.versions(event).await.map(Any::Gem),
            Question::Info(name) => self.info(name, event).await.map(Any::Gem),
            Question::Gem(full_name) => Ok(Any::Tree(tree::Found::Content(self.gem(full_name, event).await?))),
            Question::Download(full_name) => Ok(Any::Gem(Found::Elsewhere(format!("../gems/{full_name}.gem")))),
            Question::Push | Question::Yank | Question::Own(..) => Err(self.unsupported("take changes")),
            Question::Names => self.names(event).await.map(Any::Gem),
            Question::Specs(file) => self.specs(file, event).await.map(Any::Gem),
            Question::Gemspec(full_name) => self.gemspec(full_name, event).await.map(Any::Gem),
            Question::Dependencies(form) => {
                let names = parameters::names(asked)?;
                self.dependencies(names.as_deref(), form, event).await.map(Any::Gem)
            }
            Question::Call(Call::Attestations(full_name), _) => {
                Ok(Any::Tree(tree::Found::Content(self.attestations(full_name, event).await?)))
            }
            Question::Call(call, form) => self.call(call, form, asked, event).await.map(Any::Gem),
        }
    }

    /// `/versions`. Nobody answers it for longer without looking at the upstream's, which is when it is known that somebody asks.
    async fn versions(self, event: &mut Event) -> Result<Found, Error> {
        self.ready(event).await?;
        let found = match self.local.by_rows() {
            true => self.visible_versions(event).await?,
            false => Found::Index(self.known(|known| known.index.clone())?),
        };
        let look = Some(Millis(self.now().0 + LOOK_EVERY_MS)).filter(|_| self.remote.repository.as_of.is_none());
        Ok(match found {
            Found::Index(index) => Found::Index(Index { fresh_until: soonest(index.fresh_until, look), ..index }),
            other => other,
        })
    }
}
