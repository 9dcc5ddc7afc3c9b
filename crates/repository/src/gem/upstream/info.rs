//! `/info/NAME` of an upstream: from the cache while the index has the same MD5 for it.

use crate::content::{Content, Freshness, How, soonest};
use crate::error::{Error, Result};
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::doubts::Doubt;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::forbidden::forbidden;
use crate::gem::upstream::info_rows::{self, InfoRow};
use crate::gem::upstream::listing::{Listed, ListedVersion};
use crate::gem::upstream::look::LOOK_EVERY;
use crate::gem::upstream::vanished;
use crate::gem::upstream::view::token_rows;
use crate::gem::upstream::view_versions::basis;
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
use telemetry::{Event, Millis, Op, Reason, Tick};

/// The versions of a gem in an upstream's `/info`.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) info: Info,
    /// The listed versions in the index.
    listed: Listed,
    pub(crate) rows: Vec<InfoRow>,
    /// Why the file does not match the index.
    stale: Option<Stale>,
    /// When the upstream is called again.
    until: Option<Millis>,
}

/// The file, and the index entry of the gem.
#[derive(Debug)]
pub(crate) struct InfoFile {
    info: Info,
    listed: Listed,
    stale: Option<Stale>,
    until: Option<Millis>,
}

/// Why a file does not match the index.
#[derive(Debug, Clone, Copy)]
struct Stale {
    why: Reason,
    /// Seconds since the upstream served it.
    age_s: u64,
}

impl Versions {
    /// Why the file does not match the index; `None`: it does.
    pub(crate) fn behind(&self) -> Option<Reason> {
        self.stale.map(|stale| stale.why)
    }
}

impl RemoteGems<'_> {
    /// `/info/NAME`, filtered by the policy. A listed gem without visible versions still has an empty one: Bundler
    /// leaves the compact index if a name has no `/info`.
    pub(crate) async fn info(self, name: &str, event: &mut Event) -> Result<Index> {
        let Versions { info, listed, rows, stale, until } = match self.whole_info(name, event).await {
            Err(Error::Hidden(_)) => return Ok(Index::of(render([""; 0]))),
            versions => versions?,
        };
        let freshness = stale.map(|Stale { why, age_s }| Freshness { how: How::Stale(why), age_s });
        let view = self.remote.repository.view(self.now());
        if view.rules.is_open() && view.as_of.is_none() {
            return Ok(Index { fresh_until: until, freshness, ..Index::of(info.body().to_vec()) });
        }
        let seen: HashSet<&str> = visible(&rows, view).map(|seen| seen.entry().token.as_str()).collect();
        let body = info.visible(|line| !seen.contains(line.token));
        let made = Index::of(body.to_vec());
        if stale.is_none() && view.as_of.is_none() {
            self.learn(name, &info, &listed, &made.md5);
        }
        Ok(Index { fresh_until: soonest(until, next_change(&rows, view)), freshness, ..made })
    }

    /// Stores the MD5 of a filtered file, for the gem's line in `/versions`, if the file matches the index.
    fn learn(self, name: &str, info: &Info, listed: &Listed, md5: &str) {
        let (repository, rows) = (&self.remote.repository, token_rows(name, listed));
        let tokens: Vec<&str> = visible(&rows, repository.view(self.now())).map(|seen| seen.entry().token).collect();
        let all: HashSet<&str> = rows.iter().map(|row| row.token).collect();
        let is_listed = info.lines().count() == rows.len() && info.lines().all(|line| all.contains(line.token));
        if repository.asks && is_listed && !tokens.is_empty() && tokens.len() < rows.len() {
            let basis = basis(&repository.rules, name, &tokens, &listed.md5);
            // No index contains the gem, so nothing has to be made again.
            self.local.indexes.learned.learn(name, basis, md5.to_owned());
        }
    }

    /// The unfiltered versions of a gem.
    pub(crate) async fn whole_info(self, name: &str, event: &mut Event) -> Result<Versions> {
        let found = match self.remote.repository.as_of.is_some() {
            true => self.past_info(name, event).await?,
            false => self.follower().info(name, event).await?,
        };
        let InfoFile { info, listed, stale, until } = found;
        let listed = self.dated(name, &info, listed);
        let rows = info_rows::read(name, &info, &listed, self.now());
        Ok(Versions { info, listed, rows, stale, until })
    }

    /// The versions as of the moment.
    async fn past_info(self, name: &str, event: &mut Event) -> Result<InfoFile> {
        self.ready(event).await?;
        let end = self.end()?;
        let listed = self.known(|known| known.listing.gem_by(name, end))?.ok_or(Error::NoSuchPackage)?;
        if let Some(hidden) = forbidden(&self.remote.repository, name, "") {
            return Err(hidden.into());
        }
        let body = match listed.versions.is_empty() {
            true => render([""; 0]).into(),
            false => self.info_then(name, &listed, event).await?,
        };
        Ok(InfoFile { info: read_info(name, body)?, listed, stale: None, until: None })
    }
}

impl Follow {
    /// The listed versions of a gem. If its name is not listed, the index is checked again; no upstream is called with
    /// the name.
    pub(crate) async fn listed(&self, name: &str, event: &mut Event) -> Result<Listed> {
        self.ready(event).await?;
        let origin = self.remote.repository.origin;
        if let Some(listed) = self.index().gem(origin, name) {
            return Ok(listed);
        }
        self.ready_for_new(event).await?;
        self.index().gem(origin, name).ok_or(Error::NoSuchPackage)
    }

    /// The upstream's file, or the last one that it served.
    pub(crate) async fn info(&self, name: &str, event: &mut Event) -> Result<InfoFile> {
        let mut listed = self.listed(name, event).await?;
        if let Some(hidden) = forbidden(&self.remote.repository, name, "") {
            return Err(hidden.into());
        }
        let path = format!("info/{name}");
        if let Some(Remembered::File(kept)) = self.remote.recall(&self.remote.repository.file(&path), event).await? {
            vanished::note(&self.remote, name, &kept, &listed, event).await?;
        }
        if listed.versions.is_empty() {
            let info = read_info(name, render([""; 0]).into())?;
            return Ok(InfoFile { info, listed, stale: None, until: None });
        }
        // A concurrent request waits for the result of the first.
        let _turn = match self.is_behind(name, &listed, event).await? {
            true => Some(event.waited(Op::FlightWait, self.index().asking.turn(name)).await),
            false => None,
        };
        listed = self.index().gem(self.remote.repository.origin, name).unwrap_or(listed);
        let doubt = self.index().doubts.find(name, &listed.md5, self.now());
        let corrected = self.is_corrected(name);
        let content = self.fetched_info(name, &listed, doubt.as_ref(), event).await?;
        let (md5, freshness) = (content.hashes.as_ref().and_then(|hashes| hashes.md5.clone()), content.freshness);
        let read = move |(): &mut ()| content.bytes();
        let body = self.context.workers.run(Lane::Index, Op::PackageRead, event, read).await?.ok_or(Error::GivenUp)?;
        let info = read_info(name, body)?;
        let has = md5.clone();
        let why = match (md5, freshness.map(|freshness| freshness.how)) {
            (Some(md5), how) if md5 == listed.md5 && proves(how, corrected, doubt.as_ref()) => {
                self.index().doubts.settle(name);
                None
            }
            // The second request failed.
            (_, Some(How::Stale(why))) => {
                let failure = Failure::new(why, format!("the upstream's `/info/{name}` could not be fetched again"));
                self.index().doubts.add(name, &listed.md5, failure, self.now());
                Some(why)
            }
            (Some(_), Some(How::Kept)) => doubt.as_ref().map(|doubt| doubt.why.reason),
            (Some(md5), _) => self.judge(name, &mut listed, &md5, &info, event).await?,
            (None, _) => None,
        };
        let is_said = has.is_some_and(|md5| md5 == listed.md5);
        let info = if is_said { info } else { info.without_cut_line() };
        let again = self.index().doubts.find(name, &listed.md5, self.now()).map(|doubt| doubt.again);
        let stale = why.map(|why| Stale { why, age_s: freshness.map_or(0, |freshness| freshness.age_s) });
        Ok(InfoFile { info, listed, stale, until: stale.map(|_| again.unwrap_or_else(|| self.now())) })
    }

    /// Whether our log has a corrected MD5 for this gem.
    fn is_corrected(&self, name: &str) -> bool {
        self.index().read(self.remote.repository.origin, |known| known.is_corrected(name)) == Some(true)
    }

    /// Whether the cached file differs from the index, or may differ, so that the upstream is called.
    async fn is_behind(&self, name: &str, listed: &Listed, event: &mut Event) -> Result<bool> {
        if self.index().doubts.find(name, &listed.md5, self.now()).is_some() {
            return Ok(false);
        }
        let path = format!("info/{name}");
        let kept = self.remote.recall(&self.remote.repository.file(&path), event).await?;
        let is_corrected = self.is_corrected(name);
        let Some(Remembered::File(kept)) = kept else { return Ok(false) };
        Ok(is_corrected || kept.known.hashes.md5.as_ref() != Some(&listed.md5))
    }

    /// The file, from the cache or fetched.
    async fn fetched_info(
        &self,
        name: &str,
        listed: &Listed,
        doubt: Option<&Doubt>,
        event: &mut Event,
    ) -> Result<Content> {
        let path = format!("info/{name}");
        let file = self.remote.repository.file(&path);
        if let Some(doubt) = doubt
            && !matches!(self.remote.recall(&file, event).await?, Some(Remembered::File(_)))
        {
            return Err(doubt.why.clone().into());
        }
        let lasts = self.is_corrected(name).then_some(LOOK_EVERY);
        let proof = Proof::Md5 { said: &listed.md5, again: doubt.map(|doubt| doubt.again), lasts };
        let (began, mut trace) = (Tick::now(), FetchTrace::default());
        let found = Box::pin(file_by(&self.remote, &file, proof, &mut trace, event)).await;
        trace.finish(&self.remote, began, &found, event);
        match found {
            // The upstream lacks it or has something else: another request at once would not help.
            Err(Error::Upstream(failure)) if failure.reason == Reason::UpstreamInvalid => {
                self.index().doubts.add(name, &listed.md5, failure.clone(), self.now());
                Err(failure.into())
            }
            // The cached answer is from a time when the path did not belong to an index. A listed gem has a file.
            Err(Error::Missing { .. }) => {
                let text = format!("the upstream lists {name} and has no `/info` of it");
                Err(Failure::new(Reason::UpstreamInvalid, text).into())
            }
            found => found,
        }
    }

    /// The mismatch of a file whose MD5 differs from the index; `None`: the index was corrected and matches now.
    async fn judge(
        &self,
        name: &str,
        listed: &mut Listed,
        md5: &str,
        info: &Info,
        event: &mut Event,
    ) -> Result<Option<Reason>> {
        let origin = self.remote.repository.origin;
        let ever_said = || self.index().read(origin, |known| known.listing.log().ever_said(name, md5)) == Some(true);
        if !ever_said() {
            // Either the file is newer than the index, or the index is wrong.
            self.ready_for_new(event).await?;
            *listed = self.index().gem(origin, name).ok_or(Error::NoSuchPackage)?;
        }
        // The gem was corrected, and the upstream has returned to its earlier state in both places.
        let is_right = || self.index().read(origin, |known| known.is_wrong(name, md5)) == Some(true);
        if listed.md5 != md5 && (!ever_said() || is_right()) && has_all(info, listed) {
            event.during(Op::TurnWait, self.correct(name, &listed.md5, md5)).await?;
            *listed = self.index().gem(origin, name).ok_or(Error::NoSuchPackage)?;
        }
        if listed.md5 == md5 {
            self.index().doubts.settle(name);
            return Ok(None);
        }
        let text = format!("the upstream's `/info/{name}` is not yet the one that its index says");
        self.index().doubts.add(name, &listed.md5, Failure::new(Reason::UpstreamBehind, text), self.now());
        Ok(Some(Reason::UpstreamBehind))
    }
}

fn read_info(name: &str, body: Bytes) -> Result<Info, Failure> {
    let invalid =
        |refusal| Failure::new(Reason::UpstreamInvalid, format!("the upstream's `/info/{name}` is refused: {refusal}"));
    Info::read(body).map_err(invalid)
}

/// Whether a file with the MD5 of the index is proven. It is not if it had to be requested again and that failed.
fn proves(how: Option<How>, corrected: bool, doubt: Option<&Doubt>) -> bool {
    match how {
        Some(How::Stale(_)) => false,
        Some(How::Kept) => !corrected || doubt.is_none(),
        _ => true,
    }
}

/// Whether a file is complete and has every listed version. Some upstreams list `0` in place of all versions.
fn has_all(info: &Info, listed: &Listed) -> bool {
    let tokens: HashSet<&str> = info.lines().map(|line| line.token).collect();
    let has = |version: &ListedVersion| version.token == "0" || tokens.contains(version.token.as_str());
    info.ends_in_newline() && listed.versions.iter().all(has)
}
