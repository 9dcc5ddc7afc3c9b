//! The dependency API.

use crate::error::Result;
use crate::gem::Found;
use crate::gem::group::GroupGems;
use crate::gem::piece_cache::Pieces;
use crate::gem::pieces::pieces_of;
use crate::gem::rows::{Depth, briefs};
use crate::gem::source::GemSource;
use bytes::Bytes;
use format::gem::dependencies::{self, Form, Piece};
use std::slice;
use std::sync::Arc;
use telemetry::{Event, Op};

impl GemSource<'_> {
    /// The dependencies of the visible versions of these gems. A gem that is not listed has none. If the facts about a
    /// listed gem are unavailable, the whole answer fails, because an answer without the gem would say that it does not
    /// exist. Without names the answer is empty: RubyGems before 3.2.3 asks that way whether the API exists.
    pub(crate) async fn dependencies(
        self,
        cache: &Pieces,
        names: Option<&[String]>,
        form: Form,
        event: &mut Event,
    ) -> Result<Found> {
        if let Self::Remote(remote) = self {
            Box::pin(remote.ready(event)).await?;
        }
        let Some(names) = names else { return Ok(Found::Dependencies([Bytes::new()].into(), form)) };
        let pieces = self.pieces(cache, names, form, event).await?;
        let join = || dependencies::list(form, pieces.iter().map(|piece| &**piece));
        // Only small pieces are copied. One request comes to a few megabytes at most, which is short enough for the event
        // loop. Pieces that were rendered from rows were timed then.
        let list = match self {
            Self::Hosted(hosted) if !hosted.by_rows() => event.time(Op::IndexRender, join),
            _ => join(),
        };
        Ok(Found::Dependencies(list.into(), form))
    }

    /// The pieces of these gems, in order.
    async fn pieces(self, cache: &Pieces, names: &[String], form: Form, event: &mut Event) -> Result<Vec<Arc<Piece>>> {
        let mut pieces = Vec::with_capacity(names.len());
        match self {
            Self::Hosted(hosted) => return pieces_of(hosted, cache, names, form, self.now(), event).await,
            Self::Remote(_) => {
                for name in names {
                    let rows = Box::pin(self.rows(name, Depth::Whole, event)).await?;
                    let briefs = briefs(&rows)?;
                    let piece = || Arc::new(Piece::new(form, name, briefs.iter().map(String::as_str)));
                    pieces.extend((!rows.is_empty()).then(piece));
                }
            }
            Self::Group(group) => {
                for name in names {
                    pieces.extend(Box::pin(group.pieces(cache, name, form, event)).await?);
                }
            }
        }
        Ok(pieces)
    }
}

impl GroupGems<'_> {
    /// The piece of a gem, from its owner or from the members that share it.
    async fn pieces(self, cache: &Pieces, name: &String, form: Form, event: &mut Event) -> Result<Vec<Arc<Piece>>> {
        match self.owners(name, event).await?[..] {
            [] => Ok(Vec::new()),
            [place] => {
                let member = self.member(&self.leaves()[place]);
                member.source().pieces(cache, slice::from_ref(name), form, event).await
            }
            ref owners => {
                let briefs = briefs(&self.rows(name, owners, Depth::Whole, event).await?)?;
                let piece = || Arc::new(Piece::new(form, name, briefs.iter().map(String::as_str)));
                Ok((!briefs.is_empty()).then(piece).into_iter().collect())
            }
        }
    }
}
