//! Answers the questions of a remote repository of gems.

use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::upstream::RemoteGems;
use crate::gem::{Found, Question};
use crate::tree;
use telemetry::{Event, Layer};

impl RemoteGems<'_> {
    /// Answers one question.
    pub(crate) async fn answer(self, question: &Question<'_>, event: &mut Event) -> Result<Any, Error> {
        event.layer = Layer::Remote;
        match *question {
            Question::Root => Ok(Any::Root),
            Question::Versions => self.versions(event).await.map(Any::Gem),
            Question::Info(name) => self.info(name, event).await.map(Any::Gem),
            Question::Gem(full_name) => Ok(Any::Tree(tree::Found::Content(self.gem(full_name, event).await?))),
            Question::Download(full_name) => Ok(Any::Gem(Found::Elsewhere(format!("../gems/{full_name}.gem")))),
            Question::Push | Question::Yank | Question::Own(..) => Err(self.unsupported("take changes")),
            _ => Err(self.unsupported("answer this yet")),
        }
    }

    /// `/versions`.
    async fn versions(self, event: &mut Event) -> Result<Found, Error> {
        self.ready(event).await?;
        let index = self.index.read(self.remote.repository.origin, |known| known.index.clone());
        Ok(Found::Index(index.ok_or(Error::GivenUp)?))
    }
}
