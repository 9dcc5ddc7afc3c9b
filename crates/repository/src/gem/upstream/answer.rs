//! The freshness of answers of a remote gem repository, and the end of each answer.

use crate::content::{Content, Freshness, How, soonest};
use crate::error::{Error, Result};
use crate::found::Found as Any;
use crate::gem::found::ArrivingIndex;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::look::LOOK_EVERY;
use crate::gem::{Found, Question};
use crate::index::document::Index;
use crate::tree;
use telemetry::{Event, Millis};

impl RemoteGems<'_> {
    /// Adds the failure of an upstream and, for an explanation, the state of its index to the event of an answer.
    pub(crate) async fn finish(self, question: &Question<'_>, answer: Result<Any>, event: &mut Event) -> Result<Any> {
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
        until(found, self.again())
    }

    /// When the upstream has to be checked again.
    pub(crate) fn again(self) -> Option<Millis> {
        let again = self.known(|known| known.tried.plus(LOOK_EVERY)).ok();
        again.filter(|_| self.remote.repository.as_of.is_none())
    }

    /// Checks the index for `/versions`. Returns the upstream's first file if it can be read while it arrives.
    pub(crate) async fn arriving(self, event: &mut Event) -> Result<Option<ArrivingIndex>> {
        if self.local.by_rows() || !self.remote.repository.asks {
            return self.ready(event).await.map(|()| None);
        }
        self.local.indexes.whole_is_read();
        self.follower().ready_or_arriving(event).await
    }
}

impl Known {
    /// Why the index could not be proven lately, and since when; `None`: it was.
    pub(crate) fn stale(&self, now: Millis) -> Option<Freshness> {
        let age_s = now.0.saturating_sub(self.checked.0).max(0).cast_unsigned() / 1000;
        self.failed.map(|why| Freshness { how: How::Stale(why), age_s })
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
