//! An upstream's index filtered by a policy.

use crate::content::soonest;
use crate::error::Error;
use crate::format::Format;
use crate::gem::Found;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::listing::{Listed, ListedVersion, Moments, Offer};
use crate::gem::views::{ViewAnswer, ViewPart};
use crate::index::document::Index;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;
use crate::visible::{Row, next_change, visible};
use format::gem;
use std::sync::Arc;
use store::{Lane, State};
use telemetry::{Event, Millis, Op};

/// A filtered answer, and when the policy shows other content.
pub(crate) type Made = (ViewAnswer, Option<Millis>);

/// One version of a gem as `/versions` lists it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenRow<'a> {
    pub(crate) name: &'a str,
    /// `1.0`, `1.0-java`.
    pub(crate) token: &'a str,
    pub(crate) since: Millis,
    age: Since,
}

impl<'a> TokenRow<'a> {
    /// The versions of a gem as rows.
    pub(crate) fn of(offer: &'a Offer<'_>) -> impl Iterator<Item = TokenRow<'a>> {
        let row = |(token, moments): &'a (&str, Moments)| TokenRow {
            name: offer.name,
            token,
            since: moments.since,
            age: moments.age_in_lists(),
        };
        offer.versions.iter().map(row)
    }

    /// The same row with the age that is proven, whether `/info` was read or not.
    pub(crate) fn proven(self, version: &ListedVersion) -> Self {
        Self { age: version.age(), ..self }
    }
}

impl Row for TokenRow<'_> {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.since, self.since)
    }

    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>> {
        let number = self.token.split_once('-').map_or(self.token, |(number, _)| number);
        let (package, version) = (self.name.into(), number.into());
        Some(PackageVersion { format, package, version, since: self.age, upstream: true })
    }
}

/// The visible versions of a gem.
#[derive(Debug)]
pub(crate) struct VisibleGem {
    pub(crate) name: String,
    /// The versions that may be seen.
    pub(crate) tokens: Vec<String>,
    /// Whether all versions are visible.
    pub(crate) all: bool,
    /// The MD5 of the upstream's `/info`.
    pub(crate) md5: String,
}

/// The visible versions of all gems.
#[derive(Debug)]
pub(crate) struct VisibleGems {
    pub(crate) gems: Vec<VisibleGem>,
    /// When other versions become visible.
    pub(crate) until: Option<Millis>,
}

/// The versions of a gem as rows of a list.
pub(crate) fn token_rows<'a>(name: &'a str, gem: &'a Listed) -> Vec<TokenRow<'a>> {
    let row = |version: &'a ListedVersion| {
        let (token, since, age) = (version.token.as_str(), version.since, version.moments().age_in_lists());
        TokenRow { name, token, since, age }
    };
    gem.versions.iter().map(row).collect()
}

impl RemoteGems<'_> {
    /// What `read` returns for the known state of the upstream's index. Call it after `ready`.
    pub(crate) fn known<T>(self, read: impl FnOnce(&Known) -> T) -> Result<T, Error> {
        self.index.read(self.remote.repository.origin, read).ok_or(Error::GivenUp)
    }

    /// The present listed versions of a gem.
    pub(crate) fn gem_now(self, name: &str) -> Option<Listed> {
        self.index.gem(self.remote.repository.origin, name)
    }

    /// The visible versions of all gems.
    pub(crate) async fn visible_gems(self, event: &mut Event) -> Result<VisibleGems, Error> {
        let (repository, now) = (self.remote.repository.clone(), self.now());
        let (shared, end) = (repository.shared.clone(), self.end()?);
        let look = move |(): &mut ()| {
            shared.followed.read(repository.origin, |known| {
                let all = known.listing.all_by(end, |name, gem| visible_gem(&repository, name, gem, now));
                let until = all.iter().filter_map(|(_, (_, until))| *until).min();
                VisibleGems { gems: all.into_iter().map(|(_, (gem, _))| gem).collect(), until }
            })
        };
        let seen = self.context.workers.run(Lane::Index, Op::IndexRender, event, look).await?;
        seen.ok_or(Error::GivenUp)
    }

    /// The filtered `/versions`, rendered as a whole.
    pub(crate) async fn rendered_versions(self, event: &mut Event) -> Result<Found, Error> {
        let make = async |event: &mut Event| {
            let VisibleGems { gems, until } = self.visible_gems(event).await?;
            let end = self.end()?;
            // All listed versions existed at that date; clients that follow the index rely on it.
            let written = self.known(|known| known.listing.seen_by(end))?.unwrap_or_default();
            let created = written.seconds();
            let render = move |(): &mut ()| Index::of(gem::versions::render(created, gems.iter().map(line)));
            let index = self.context.workers.run(Lane::Index, Op::IndexRender, event, render).await?;
            Ok((Found::Index(Index { fresh_until: until, ..index }).into(), until))
        };
        self.local.once(ViewPart::Versions, self.now(), event, make).await?.found()
    }
}

/// The visible versions of a gem, and when others become visible.
fn visible_gem(repository: &Arc<Repository>, name: &str, gem: &Listed, now: Millis) -> (VisibleGem, Option<Millis>) {
    let (rows, view) = (token_rows(name, gem), repository.view(now));
    let tokens: Vec<String> = visible(&rows, view).map(|seen| seen.entry().token.to_owned()).collect();
    let all = tokens.len() == rows.len();
    let seen = VisibleGem { name: name.to_owned(), tokens, all, md5: gem.md5.clone() };
    (seen, soonest(None, next_change(&rows, view)))
}

/// The line of a gem. Clients compare the MD5 only with that of their own file, to decide whether to request it. So if
/// versions are hidden, any digits are valid that change whenever the file may have changed.
fn line(gem: &VisibleGem) -> String {
    let VisibleGem { name, tokens, all, md5 } = gem;
    match (tokens.is_empty(), all) {
        (true, _) => gem::versions::tombstone(name, &gem::info::md5_hex(&gem::info::render([""; 0]))),
        (false, true) => format!("{name} {} {md5}", tokens.join(",")),
        (false, false) => {
            let tokens = tokens.join(",");
            let provisional = gem::info::md5_hex(format!("{name} {tokens} {md5}").as_bytes());
            format!("{name} {tokens} {provisional}")
        }
    }
}
