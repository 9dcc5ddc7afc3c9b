//! The dependency API of a group: the owner of each gem answers for it.

use crate::error::Error;
use crate::gem::group::{GroupGems, Member};
use crate::gem::info_lines::facts;
use crate::gem::{Found, dependencies as hosted_dependencies};
use crate::visible::visible;
use bytes::Bytes;
use format::gem::dependencies::{self, Form, Piece};
use std::collections::HashSet;
use std::sync::Arc;
use telemetry::Event;

impl GroupGems<'_> {
    /// The dependencies of the visible versions of these gems. A gem that no member lists has none. If the owner of a
    /// gem fails, the whole answer fails, because an answer without the gem would say that it does not exist.
    pub(crate) async fn dependencies(
        self,
        names: Option<&[String]>,
        form: Form,
        event: &mut Event,
    ) -> Result<Found, Error> {
        let Some(names) = names else { return Ok(Found::Dependencies([Bytes::new()].into(), form)) };
        let mut pieces: Vec<Arc<Piece>> = Vec::with_capacity(names.len());
        for name in names {
            match self.owners(name, event).await?[..] {
                [] => {}
                [place] => pieces.extend(self.piece(place, name, form, event).await?),
                ref owners => pieces.extend(self.joined_piece(owners, name, form, event).await?),
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
                let (names, cache) = (std::slice::from_ref(name), &self.services.gem.pieces);
                let pieces = hosted_dependencies::pieces_of(hosted, cache, names, form, self.now(), event).await?;
                Ok(pieces.into_iter().next())
            }
            Member::Remote(remote, local) => {
                Ok(self.remote(&remote, local).needs(name, form, event).await?.map(Arc::new))
            }
        }
    }

    /// The dependencies of a gem that several members share. Each version comes from the first member that has it.
    async fn joined_piece(
        self,
        owners: &[usize],
        name: &str,
        form: Form,
        event: &mut Event,
    ) -> Result<Option<Arc<Piece>>, Error> {
        let (mut briefs, mut known) = (Vec::new(), HashSet::new());
        for place in owners {
            let more = match self.member(&self.leaves()[*place])? {
                Member::Hosted(hosted) => {
                    let rows = hosted.repository.unit(hosted.store, name, event).await?;
                    let seen = visible(&rows, hosted.repository.view(self.now()));
                    let brief = seen.map(|seen| Ok(dependencies::brief(&facts(seen.entry())?)));
                    brief.collect::<Result<Vec<_>, Error>>()?
                }
                Member::Remote(remote, local) => {
                    self.remote(&remote, local).briefs(name, event).await?.unwrap_or_default()
                }
            };
            let is_new = |brief: &String| known.insert(brief.split(' ').next().unwrap_or_default().to_owned());
            briefs.extend(more.into_iter().filter(is_new));
        }
        let piece = || Arc::new(Piece::new(form, name, briefs.iter().map(String::as_str)));
        Ok((!briefs.is_empty()).then(piece))
    }
}
