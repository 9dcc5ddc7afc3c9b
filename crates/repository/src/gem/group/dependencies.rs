//! The dependency API of a group: of each gem what its owner says.

use crate::error::Error;
use crate::gem::group::{GroupGems, Member};
use crate::gem::{Found, dependencies as hosted_dependencies};
use bytes::Bytes;
use format::gem::dependencies::{self, Form, Piece};
use std::sync::Arc;
use telemetry::Event;

impl GroupGems<'_> {
    /// What the visible versions of these gems need. A gem that no member lists has none. A gem whose owner cannot tell fails the whole
    /// answer: an answer without it would say that there is no such gem.
    pub(crate) async fn dependencies(
        self,
        names: Option<&[String]>,
        form: Form,
        event: &mut Event,
    ) -> Result<Found, Error> {
        let Some(names) = names else { return Ok(Found::Dependencies([Bytes::new()].into(), form)) };
        let mut pieces: Vec<Arc<Piece>> = Vec::with_capacity(names.len());
        for name in names {
            for place in self.owners(name, event).await? {
                pieces.extend(self.piece(place, name, form, event).await?);
            }
        }
        Ok(Found::Dependencies(dependencies::list(form, pieces.iter().map(|piece| &**piece)).into(), form))
    }

    async fn piece(
        self,
        place: usize,
        name: &String,
        form: Form,
        event: &mut Event,
    ) -> Result<Option<Arc<Piece>>, Error> {
        match self.member(&self.leaves()[place])? {
            Member::Hosted(hosted) => {
                let (names, cache) = (std::slice::from_ref(name), &self.repositories.pieces);
                let pieces = hosted_dependencies::pieces_of(hosted, cache, names, form, self.now(), event).await?;
                Ok(pieces.into_iter().next())
            }
            Member::Remote(remote, local) => {
                Ok(self.remote(&remote, local).needs(name, form, event).await?.map(Arc::new))
            }
        }
    }
}
