//! The dependency API of a remote repository, from the lines of its upstream's `/info`.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::upstream::RemoteGems;
use crate::visible::visible;
use bytes::Bytes;
use format::gem::dependencies::{self, Form, Piece};
use telemetry::Event;

impl RemoteGems<'_> {
    /// The dependencies of the visible versions of these gems. A gem that is not listed has none. If the facts about a
    /// listed gem are unavailable, the whole answer fails, because an answer without the gem would say that it does not
    /// exist.
    pub(crate) async fn dependencies(
        self,
        names: Option<&[String]>,
        form: Form,
        event: &mut Event,
    ) -> Result<Found, Error> {
        self.ready(event).await?;
        let Some(names) = names else { return Ok(Found::Dependencies([Bytes::new()].into(), form)) };
        let mut pieces = Vec::with_capacity(names.len());
        for name in names {
            pieces.extend(self.needs(name, form, event).await?);
        }
        Ok(Found::Dependencies(dependencies::list(form, pieces.iter()).into(), form))
    }

    /// The dependencies of a gem's visible versions; `None`: it is not listed, or the policy hides its name.
    pub(crate) async fn needs(self, name: &str, form: Form, event: &mut Event) -> Result<Option<Piece>, Error> {
        let briefs = self.briefs(name, event).await?;
        Ok(briefs.map(|briefs| Piece::new(form, name, briefs.iter().map(String::as_str))))
    }

    /// The same, in the short form of each version.
    pub(crate) async fn briefs(self, name: &str, event: &mut Event) -> Result<Option<Vec<String>>, Error> {
        let info = match self.whole_info(name, event).await {
            Err(Error::NoSuchPackage | Error::Hidden(_)) => return Ok(None),
            info => info?,
        };
        let view = self.remote.repository.view(self.now());
        Ok(Some(visible(&info.rows, view).map(|seen| seen.entry().brief.clone()).collect()))
    }
}
