//! Answers the questions of a remote gem repository.

use crate::content::{Content, Freshness, How, soonest};
use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::download::ANY;
use crate::gem::indexes::specs::Packed;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::look::LOOK_EVERY;
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
        if let Err(Error::Upstream(failure)) = &answer
            && event.detail.is_empty()
        {
            event.detail = failure.detail();
        }
        if !self.remote.repository.asks {
            self.explain(question, event).await;
        }
        answer.map(|found| self.until_looked_at(found))
    }

    /// The same, valid until the upstream has to be checked again. A page without an end would prevent that check.
    pub(crate) fn until_looked_at(self, found: Any) -> Any {
        let again = self.known(|known| known.tried.plus(LOOK_EVERY)).ok();
        until(found, again.filter(|_| self.remote.repository.as_of.is_none()))
    }

    async fn answer_from_index(
        self,
        question: &Question<'_>,
        asked: &Parameters<'_>,
        event: &mut Event,
    ) -> Result<Any, Error> {
        match *question {
            Question::Root => Ok(Any::Root),
            Question::Settings(_) => Err(Error::GivenUp), // answered before
            Question::Versions => self.versions(event).await.map(Any::Gem),
            Question::Info(name) => self.info(name, event).await.map(Any::Gem),
            Question::Gem(full_name) => Ok(Any::Tree(tree::Found::Content(self.gem(full_name, ANY, event).await?))),
            Question::Download(full_name) => Ok(Any::Gem(Found::Elsewhere(format!("../gems/{full_name}.gem")))),
            Question::Push | Question::Yank | Question::Unyank | Question::Own(..) => {
                Err(self.unsupported("take changes: hosted ones do"))
            }
            Question::Names => self.names(event).await.and_then(|found| self.with_staleness(found)),
            Question::Specs(file) => self.specs(file, event).await.and_then(|found| self.with_staleness(found)),
            Question::Gemspec(full_name) => self.gemspec(full_name, ANY, event).await.map(Any::Gem),
            Question::Dependencies(form) => {
                let names = parameters::names(asked)?;
                event.more_mut().sized(names.as_deref().map_or(0, <[String]>::len));
                self.dependencies(names.as_deref(), form, event).await.map(Any::Gem)
            }
            Question::Call(Call::Attestations(full_name), _) => {
                Ok(Any::Tree(tree::Found::Content(self.attestations(full_name, ANY, event).await?)))
            }
            Question::Call(call, form) => self.call(call, form, asked, event).await.map(Any::Gem),
        }
    }

    /// `/versions`. Its page ends when the upstream has to be checked again, so that requests for it are noticed.
    async fn versions(self, event: &mut Event) -> Result<Found, Error> {
        let by_rows = self.local.by_rows();
        if !by_rows && self.remote.repository.asks {
            self.local.indexes.whole_is_read();
        }
        if by_rows || !self.remote.repository.asks {
            self.ready(event).await?;
        } else if let Some(arriving) = self.follower().ready_or_arriving(event).await? {
            return Ok(Found::Arriving(arriving));
        }
        let (index, stale) = (self.known(|known| known.index.clone())?, self.stale()?);
        let found = match by_rows {
            true => self.visible_versions(event).await?,
            false => Found::Index(index),
        };
        Ok(with_freshness(found, stale))
    }

    /// An answer from the upstream's whole index, with the reason if the index could not be verified recently.
    fn with_staleness(self, found: Found) -> Result<Any, Error> {
        Ok(Any::Gem(with_freshness(found, self.stale()?)))
    }

    /// Why the index could not be proven lately, and since when; `None`: it was.
    fn stale(self) -> Result<Option<Freshness>, Error> {
        self.known(|known| {
            let age_s = self.now().0.saturating_sub(known.checked.0).max(0).cast_unsigned() / 1000;
            known.failed.map(|why| Freshness { how: How::Stale(why), age_s })
        })
    }
}

fn with_freshness(found: Found, freshness: Option<Freshness>) -> Found {
    match found {
        Found::Index(index) => Found::Index(Index { freshness, ..index }),
        Found::Packed(file) => Found::Packed(Packed { freshness, ..file }),
        other => other,
    }
}

/// The same, valid until this moment.
fn until(found: Any, again: Option<Millis>) -> Any {
    let soon = |index: Index| Index { fresh_until: soonest(index.fresh_until, again), ..index };
    match found {
        Any::Gem(Found::Index(index)) => Any::Gem(Found::Index(soon(index))),
        Any::Gem(Found::Gemspec(index)) => Any::Gem(Found::Gemspec(soon(index))),
        Any::Gem(Found::Document(index, form)) => Any::Gem(Found::Document(soon(index), form)),
        Any::Tree(tree::Found::Content(content)) => {
            let fresh_until = soonest(content.fresh_until, again);
            Any::Tree(tree::Found::Content(Content { fresh_until, ..content }))
        }
        other => other,
    }
}
