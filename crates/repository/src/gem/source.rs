//! The source of the gems of a repository: its own rows, the index of an upstream, or its members. Each document is
//! rendered once, from any source; this file has the parts in which sources differ.

use crate::content::{Freshness, soonest};
use crate::error::{Error, Result};
use crate::found::Found as Any;
use crate::gem::download::{self, Names, Part};
use crate::gem::group::{GroupGems, Member};
use crate::gem::hosted::Hosted;
use crate::gem::indexes::specs::Packed;
use crate::gem::lists::Lines;
use crate::gem::rows::{Depth, GemRows};
use crate::gem::upstream::RemoteGems;
use crate::gem::views::WholeIndex;
use crate::gem::{Found, info, names, specs, versions};
use crate::index::document::Index;
use crate::tree::Found as Tree;
use format::gem::specs::File;
use telemetry::{Event, Millis};

/// A gem repository as the source of its documents. Futures of remote repositories and groups are boxed, so that those
/// of hosted ones stay small.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GemSource<'a> {
    Hosted(Hosted<'a>),
    Remote(RemoteGems<'a>),
    Group(GroupGems<'a>),
}

impl<'a> GemSource<'a> {
    /// The repository itself: its indexes, and the cache of views.
    pub(crate) fn local(self) -> Hosted<'a> {
        match self {
            Self::Hosted(hosted) => hosted,
            Self::Remote(remote) => remote.local,
            Self::Group(group) => group.local,
        }
    }

    pub(crate) fn now(self) -> Millis {
        self.local().services.clock.now()
    }

    /// The repository if it takes changes.
    pub(crate) fn changeable(self) -> Result<Hosted<'a>> {
        match self {
            Self::Hosted(hosted) => Ok(hosted),
            Self::Remote(remote) => Err(remote.unsupported("take changes: hosted ones do")),
            Self::Group(group) => Err(group.unsupported()),
        }
    }
}

impl Member<'_> {
    pub(crate) fn source(&self) -> GemSource<'_> {
        self.upstream().map_or(GemSource::Hosted(self.local), GemSource::Remote)
    }
}

impl GemSource<'_> {
    /// `/versions`.
    pub(crate) async fn versions(self, event: &mut Event) -> Result<Found> {
        let index = match self {
            Self::Hosted(hosted) if !hosted.by_rows() => {
                return Ok(Found::Index(versions::versions(hosted, self.now(), event).await?));
            }
            Self::Hosted(_) => self.rendered(WholeIndex::Versions, event).await?.index()?,
            Self::Remote(remote) => {
                if let Some(arriving) = Box::pin(remote.arriving(event)).await? {
                    return Ok(Found::Arriving(arriving));
                }
                match (remote.local.by_rows(), remote.local.is_logged()) {
                    (false, _) => remote.known(|known| known.index.clone())?,
                    (true, true) => Box::pin(remote.visible_versions(event)).await?,
                    (true, false) => self.rendered(WholeIndex::Versions, event).await?.index()?,
                }
            }
            Self::Group(group) => {
                Box::pin(group.look_at_all(event)).await?;
                match group.local.is_logged() {
                    true => Box::pin(group.log(event, |_, _| ())).await?.index,
                    false => self.rendered(WholeIndex::Versions, event).await?.index()?,
                }
            }
        };
        Ok(Found::Index(self.dated(index)?))
    }

    /// `/names`.
    pub(crate) async fn names(self, event: &mut Event) -> Result<Index> {
        self.look(event).await?;
        let index = match self {
            _ if !self.has_lists() => self.rendered(WholeIndex::Names, event).await?.index()?,
            Self::Hosted(hosted) => names::names(hosted, self.now(), event).await?,
            Self::Remote(remote) => Box::pin(Lines::Upstream(remote).names(event)).await?,
            Self::Group(group) => Box::pin(Lines::Log(group).names(event)).await?,
        };
        self.dated(index)
    }

    /// One of the three files of the older index.
    pub(crate) async fn specs(self, file: File, event: &mut Event) -> Result<Found> {
        self.look(event).await?;
        let found = match self {
            _ if !self.has_lists() => self.rendered(WholeIndex::Specs(file), event).await?.packed()?,
            Self::Hosted(hosted) => specs::specs(hosted, file, self.now(), event).await?,
            Self::Remote(remote) => Box::pin(Lines::Upstream(remote).specs(file, event)).await?,
            Self::Group(group) => Box::pin(Lines::Log(group).specs(file, event)).await?,
        };
        Ok(Found::Packed(Packed { freshness: self.freshness()?.0, ..found }))
    }

    /// `/info/NAME`.
    pub(crate) async fn info(self, name: &str, event: &mut Event) -> Result<Index> {
        match self {
            Self::Hosted(hosted) => info::info(hosted, name, self.now(), event).await,
            Self::Remote(remote) => {
                let index = Box::pin(remote.info(name, event)).await?;
                Ok(Index { fresh_until: soonest(index.fresh_until, remote.again()), ..index })
            }
            Self::Group(group) => Box::pin(group.info(name, event)).await,
        }
    }

    /// A part of the version with this full name, if it is of one of these gems.
    pub(crate) async fn file(self, part: Part, full_name: &str, of: Names<'_>, event: &mut Event) -> Result<Any> {
        match (self, part) {
            (Self::Hosted(hosted), Part::Gem) => {
                download::gem(hosted, full_name, of, self.now(), event).await.map(Any::Gem)
            }
            (Self::Hosted(hosted), Part::Gemspec) => {
                download::gemspec(hosted, full_name, of, self.now(), event).await.map(Any::Gem)
            }
            // No gem that is pushed here has any.
            (Self::Hosted(_), Part::Attestations) => {
                Err(Error::NoSuchFile(format!("api/v1/attestations/{full_name}.json")))
            }
            (Self::Remote(remote), Part::Gem) => {
                let content = Box::pin(remote.gem(full_name, of, event)).await?;
                Ok(remote.until_looked_at(Any::Tree(Tree::Content(content))))
            }
            (Self::Remote(remote), Part::Gemspec) => {
                Ok(remote.until_looked_at(Any::Gem(Box::pin(remote.gemspec(full_name, of, event)).await?)))
            }
            (Self::Remote(remote), Part::Attestations) => {
                let content = Box::pin(remote.attestations(full_name, of, event)).await?;
                Ok(remote.until_looked_at(Any::Tree(Tree::Content(content))))
            }
            (Self::Group(group), part) => Box::pin(group.file(part, full_name, event)).await,
        }
    }

    /// The versions of a gem, from each member that answers for it. Empty: it is not listed, or a policy hides its name.
    pub(crate) async fn rows(self, name: &str, depth: Depth, event: &mut Event) -> Result<Vec<GemRows>> {
        let now = self.now();
        match (self, depth) {
            (Self::Hosted(hosted), _) => {
                let rows = hosted.repository.unit(hosted.store, name, event).await?;
                Ok(vec![GemRows::published(rows, hosted.repository, now)])
            }
            (Self::Remote(remote), Depth::Whole) => match Box::pin(remote.whole_info(name, event)).await {
                Err(Error::NoSuchPackage | Error::Hidden(_)) => Ok(Vec::new()),
                info => Ok(vec![GemRows::of_info(info?.rows, remote.again(), &remote.remote.repository, now)]),
            },
            (Self::Remote(remote), Depth::Brief) => {
                let end = remote.end()?;
                // The owner of a claimed name may be an upstream whose index was never seen.
                let listed = remote.known(|known| known.listing.gem_by(name, end)).ok().flatten();
                let rows = |listed| GemRows::listed(name, listed, &remote.remote.repository, now);
                Ok(listed.map(rows).into_iter().collect())
            }
            (Self::Group(group), _) => {
                let owners = Box::pin(group.owners(name, event)).await?;
                Box::pin(group.rows(name, &owners, depth, event)).await
            }
        }
    }

    /// Checks the indexes of upstreams whose last check is too old.
    async fn look(self, event: &mut Event) -> Result<()> {
        match self {
            Self::Hosted(_) => Ok(()),
            Self::Remote(remote) => Box::pin(remote.ready(event)).await,
            Self::Group(group) => Box::pin(group.look_at_all(event)).await,
        }
    }

    /// Whether the shared lists have the content of this view.
    fn has_lists(self) -> bool {
        match self {
            Self::Group(group) => group.local.is_logged(),
            _ => !self.local().by_rows(),
        }
    }

    /// A whole index, with the moment at which it may change.
    fn dated(self, index: Index) -> Result<Index> {
        let (freshness, again) = self.freshness()?;
        Ok(Index { freshness, fresh_until: soonest(index.fresh_until, again), ..index })
    }

    /// Why an index of an upstream could not be confirmed recently, and when the members of a group are checked again.
    fn freshness(self) -> Result<(Option<Freshness>, Option<Millis>)> {
        match self {
            Self::Hosted(_) => Ok((None, None)),
            Self::Remote(remote) => Ok((remote.known(|known| known.stale(self.now()))?, None)),
            Self::Group(group) => Ok(group.freshness()),
        }
    }
}
