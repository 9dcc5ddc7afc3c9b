//! The older index of a remote repository, made from the versions in its upstream's index.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::indexes::last_modified::end_of_second;
use crate::gem::indexes::specs::{GemParts, SpecFiles, packed};
use crate::gem::spec_parts::parts_of;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::view::{Made, token_rows};
use crate::gem::views::ViewPart;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::chunks::{Chunks, UNITS};
use crate::policy::rules::View;
use crate::repository::Repository;
use crate::visible::next_change;
use format::gem::{Identity, Version, specs};
use std::collections::BTreeMap;
use store::Lane;
use telemetry::{Event, Millis, Op};

/// The number of hexadecimal digits in a token that identifies a package by its content and has no platform (RubyGems
/// 4.1).
const CONTENT_DIGITS: std::ops::RangeInclusive<usize> = 8..=64;

impl RemoteGems<'_> {
    /// One of the three files.
    pub(crate) async fn specs(self, file: specs::File, event: &mut Event) -> Result<Found, Error> {
        self.ready(event).await?;
        if self.local.by_rows() {
            let make = async |event: &mut Event| self.visible_specs(file, event).await;
            let now = self.now();
            return self.local.once(ViewPart::Specs(file), now, event, make).await?.found_at(now);
        }
        let mut turn = event.waited(Op::TurnWait, self.local.indexes.specs.clone().lock_owned()).await;
        let now = self.now();
        if let Some(files) = turn.current(self.local.store, now) {
            return Ok(Found::Packed(self.local.indexes.sent_dates.file(&files[file as usize], now)));
        }
        let (stamp, date) = (self.local.stamp()?, self.local.indexes.sent_dates.next(now));
        turn = self.context.read_index(turn, event).await?;
        let made = turn.source().filter(|made| made.unfinished().is_none()).map(IndexSource::through);
        let (names, last) = self.known(|known| (made.and_then(|made| known.changed_since(made)), known.last))?;
        let repository = self.remote.repository.clone();
        let change = match names {
            Some(names) => {
                let gems: Vec<(String, Listed)> = names
                    .into_iter()
                    .map(|name| {
                        let gem = self.gem_now(&name).unwrap_or_default();
                        (name, gem)
                    })
                    .collect();
                let change = move |made: &mut SpecFiles| {
                    let parts =
                        gems.iter().map(|(name, gem)| Ok((name.clone(), parts(name, gem, repository.view(now))?)));
                    made.change(parts.collect::<Result<BTreeMap<_, _>, Error>>()?, last, date)
                };
                self.context.change_index(turn, event, change).await?
            }
            None => {
                turn.replace(SpecFiles::new(last, date));
                let shared = repository.shared.clone();
                let make = move |made: &mut SpecFiles| {
                    let all = shared
                        .followed
                        .read(repository.origin, |known| rendered(known.listing.all(clone), &repository, now));
                    made.append(all.ok_or(Error::GivenUp)??, None)
                };
                self.context.change_index(turn, event, make).await?
            }
        };
        let (mut turn, ()) = change;
        let files;
        (turn, files) = self.context.change_index(turn, event, |made| made.files()).await?;
        let sent = self.local.indexes.sent_dates.file(&files[file as usize], now);
        self.context.settle_index(turn, stamp, files);
        Ok(Found::Packed(sent))
    }

    /// The same, filtered by a policy.
    async fn visible_specs(self, file: specs::File, event: &mut Event) -> Result<Made, Error> {
        let (repository, now) = (self.remote.repository.clone(), self.now());
        let (shared, end) = (repository.shared.clone(), self.end()?);
        let make = move |(): &mut ()| {
            let all = shared.followed.read(repository.origin, |known| known.listing.all_by(end, clone));
            let all = all.ok_or(Error::GivenUp)?;
            let until =
                all.iter().filter_map(|(name, gem)| next_change(&token_rows(name, gem), repository.view(now))).min();
            let mut chunks = Chunks::new();
            let mut units = rendered(all, &repository, now)?.into_iter().peekable();
            while units.peek().is_some() {
                chunks.append(units.by_ref().take(UNITS).collect())?;
            }
            Ok::<_, Error>((chunks, until))
        };
        let (chunks, until) = self.context.workers.run(Lane::Index, Op::IndexRender, event, make).await??;
        let made = end_of_second(self.now());
        let pack = move |(): &mut ()| packed(&chunks, file, made);
        let file = self.context.workers.run(Lane::Index, Op::IndexRender, event, pack).await??;
        Ok((Found::Packed(file).into(), until))
    }
}

fn clone(_: &str, gem: &Listed) -> Listed {
    gem.clone()
}

fn rendered(
    all: Vec<(String, Listed)>,
    repository: &Repository,
    now: Millis,
) -> Result<Vec<(String, GemParts)>, Error> {
    let view = repository.view(now);
    all.into_iter()
        .map(|(name, gem)| Ok((parts(&name, &gem, view)?, name)))
        .map(|one| one.map(|(parts, name)| (name, parts)))
        .collect()
}

/// The parts of one gem. Versions that no client of the older index can read are left out.
fn parts(name: &str, gem: &Listed, view: View<'_>) -> Result<GemParts, Error> {
    let mut rows = token_rows(name, gem);
    rows.retain(|row| identity(row.token).is_some());
    parts_of(name, &rows, view, |row| identity(row.token).ok_or(Error::GivenUp))
}

/// The number and platform of a version; `None`: the older index cannot express it.
pub(crate) fn identity(token: &str) -> Option<Identity> {
    let (number, platform) = token.split_once('-').unwrap_or((token, "ruby"));
    let is_content = CONTENT_DIGITS.contains(&platform.len()) && platform.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = Version::parse(number).ok().filter(|_| !is_content)?;
    Some(Identity { number, platform: platform.to_owned() })
}
