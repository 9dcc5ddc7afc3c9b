//! `/info/NAME` of an upstream: as it was fetched, while the index says the same MD5 of it.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::forbidden::forbidden;
use crate::gem::upstream::info_rows::{self, InfoRow};
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::vanished;
use crate::index::document::Index;
use crate::upstream::Remembered;
use crate::upstream::failure::Failure;
use crate::upstream::fetch::file_by;
use crate::upstream::proof::Proof;
use crate::upstream::trace::FetchTrace;
use crate::visible::next_change;
use crate::visible::visible;
use bytes::Bytes;
use format::gem::info::render;
use format::gem::upstream::Info;
use std::collections::HashSet;
use store::Lane;
use telemetry::{Event, Op, Reason, Tick};

/// What an upstream says of the versions of a gem.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) info: Info,
    pub(crate) rows: Vec<InfoRow>,
}

impl RemoteGems<'_> {
    /// What is listed of a gem. Where its name is not listed, the index is looked at again: no upstream is asked for a name.
    pub(crate) async fn listed(self, name: &str, event: &mut Event) -> Result<Listed, Error> {
        self.ready(event).await?;
        let end = self.end()?;
        let listed = || self.known(|known| known.listing.gem_by(name, end));
        match listed()? {
            Some(listed) => return Ok(listed),
            None if self.remote.repository.as_of.is_some() => return Err(Error::NoSuchPackage),
            None => self.ready_for_new(event).await?,
        }
        listed()?.ok_or(Error::NoSuchPackage)
    }

    /// `/info/NAME`, as policy shows it. A listed gem of which nothing may be seen has none: Bundler leaves the compact index where a name
    /// has no `/info`.
    pub(crate) async fn info(self, name: &str, event: &mut Event) -> Result<Found, Error> {
        let Versions { info, rows } = match self.whole_info(name, event).await {
            Err(Error::Hidden(_)) => return Ok(Found::Index(Index::of(render([""; 0])))),
            versions => versions?,
        };
        let view = self.remote.repository.view(self.now());
        if view.rules.is_open() && view.as_of.is_none() {
            return Ok(Found::Index(Index::of(info.body().to_vec())));
        }
        let seen: HashSet<&str> = visible(&rows, view).map(|seen| seen.entry().token.as_str()).collect();
        let body = info.visible(|line| !seen.contains(line.token));
        Ok(Found::Index(Index { fresh_until: next_change(&rows, view), ..Index::of(body.to_vec()) }))
    }

    /// What the upstream says of the versions of a gem, whatever policy shows of them.
    pub(crate) async fn whole_info(self, name: &str, event: &mut Event) -> Result<Versions, Error> {
        let listed = self.listed(name, event).await?;
        if let Some(hidden) = forbidden(&self.remote.repository, name, "") {
            return Err(hidden.into());
        }
        if listed.versions.is_empty() {
            return self.read_info(name, render([""; 0]).into(), listed);
        }
        if self.remote.repository.as_of.is_some() {
            let body = self.info_then(name, &listed, event).await?;
            return self.read_info(name, body, listed);
        }
        let path = format!("info/{name}");
        if let Some(Remembered::File(kept)) = self.remote.recall(&self.remote.repository.file(&path), event).await? {
            vanished::note(self.remote, name, &kept, &listed, event).await?;
        }
        let (file, began, mut trace) = (self.remote.repository.file(&path), Tick::now(), FetchTrace::default());
        let found = Box::pin(file_by(self.remote, &file, Proof::Md5(&listed.md5), &mut trace, event)).await;
        trace.finish(self.remote, began, &found, event);
        let content = found?;
        let read = move |(): &mut ()| content.bytes();
        let body = self.context.workers.run(Lane::Index, Op::PackageRead, event, read).await?.ok_or(Error::GivenUp)?;
        self.read_info(name, body, listed)
    }

    fn read_info(self, name: &str, body: Bytes, listed: Listed) -> Result<Versions, Error> {
        let info = Info::read(body).map_err(|refusal| {
            Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/info/{name}` is refused: {refusal}"))
        })?;
        let listed = self.dated(name, &info, listed);
        let rows = info_rows::read(name, &info, &listed, self.now());
        Ok(Versions { info, rows })
    }
}
