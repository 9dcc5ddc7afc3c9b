//! Answers the questions of a remote repository of gems.

use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::upstream::RemoteGems;
use crate::gem::{Found, Question, parameters};
use crate::parameters::Parameters;
use crate::tree;
use telemetry::{Event, Layer};

impl RemoteGems<'_> {
    /// Answers one question.
    pub(crate) async fn answer(
        self,
        question: &Question<'_>,
        asked: &Parameters<'_>,
        event: &mut Event,
    ) -> Result<Any, Error> {
        event.layer = Layer::Remote;
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
            Question::Call(..) => Err(self.unsupported("answer this call yet")),
        }
    }

    /// `/versions`.
    async fn versions(self, event: &mut Event) -> Result<Found, Error> {
        self.ready(event).await?;
        if self.local.by_rows() {
            return self.visible_versions(event).await;
        }
        Ok(Found::Index(self.known(|known| known.index.clone())?))
    }
}
