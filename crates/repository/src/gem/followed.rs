//! The state of an upstream's gem index, for operators.

use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gem::upstream::check::IndexCheck;
use crate::gem::upstream::follow::Follow;
use crate::maven::koji::check as koji_check;
use crate::moment::{self, Moment};
use crate::repository::{Repository, RepositoryTable};
use crate::services::{Served, Services};
use arc_swap::ArcSwap;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::{By, Event, Fold, Metric, Millis, Op, Reason, Recorder};

/// How the index of the upstream stands, of remote repositories of gems that were asked for since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FollowedIndex")]
pub struct FollowedState {
    /// How many names it ever listed.
    pub names: usize,
    /// When it was last looked at. Null: not since the start.
    #[serde(rename = "looked_at", serialize_with = "moment::known")]
    #[schemars(with = "Option<Moment>")]
    pub looked: Millis,
    /// When the upstream last proved that the answers are the current ones.
    #[serde(serialize_with = "moment::known")]
    #[schemars(with = "Option<Moment>")]
    pub proven: Millis,
    /// When it was read back from the journal. Checks before that may be unknown.
    #[serde(skip)]
    pub read_back: Millis,
    /// Why it could not be proven since.
    #[serde(serialize_with = "name_of")]
    #[schemars(with = "Option<String>")]
    pub failure: Option<Reason>,
    /// A newer one lacks many names, and is not believed before the upstream has it for an hour, or somebody accepts it.
    pub held_back: Option<HeldBackState>,
}

/// A newer one lacks many names, and is not believed before the upstream has it for an hour, or somebody accepts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct HeldBackState {
    /// How many it lacks.
    pub names: usize,
    /// Since when the upstream serves it.
    #[serde(serialize_with = "moment::shown")]
    #[schemars(with = "Moment")]
    pub since: Millis,
    /// Whether somebody accepted it, so that it counts with the next look.
    pub accepted: bool,
}

fn name_of<S: Serializer>(reason: &Option<Reason>, to: S) -> Result<S::Ok, S::Error> {
    reason.map(Reason::as_str).serialize(to)
}

impl Repository {
    /// The state of its upstream's index. `None`: it follows no index, or there was no request for it since the start.
    pub fn followed(&self) -> Option<FollowedState> {
        if !self.follows() {
            return None;
        }
        self.shared.gems().followed.read(self.origin, |known| FollowedState {
            names: known.listing.log().names(),
            looked: known.tried,
            proven: known.checked,
            read_back: known.read_back,
            failure: known.failed,
            held_back: known.held_back.map(|held| HeldBackState {
                names: held.names,
                since: held.since,
                accepted: held.accepted,
            }),
        })
    }

    /// Whether it is a group of repositories of gems.
    pub(crate) fn is_group_of_gems(&self) -> bool {
        self.format == Format::Gem && self.record.kind == RepositoryKind::Group
    }

    /// Whether it follows the index of an upstream.
    pub(crate) fn follows(&self) -> bool {
        self.format == Format::Gem && self.record.kind == RepositoryKind::Remote
    }
}

/// Accepts a newer index of this repository's upstream that is held back because it lacks many names.
pub async fn accept_index(services: &Services, name: &str, event: &mut Event) -> Result<Arc<Repository>> {
    let follower = followed_by(services, name, event).await?;
    match event.during(Op::FlightWait, follower.accept()).await {
        true => Ok(follower.remote.repository),
        false => Err(Error::NothingHeldBack(name.to_owned())),
    }
}

/// Checks the stored index of this repository's upstream, and its cached files after `after`, at most `limit`.
pub async fn check_index(
    services: &Services,
    name: &str,
    after: &str,
    limit: usize,
    event: &mut Event,
) -> Result<IndexCheck> {
    let (repository, settings) = services.find(name, event).await?;
    if repository.record.koji().is_some() {
        let remote = Served { services, repository: &repository, settings: &settings }.remote();
        let mut problems = Vec::new();
        let (koji, next) = koji_check::check(&remote, after, limit, &mut problems, event).await?;
        return Ok(IndexCheck { koji: Some(koji), problems, next, ..IndexCheck::default() });
    }
    followed_by(services, name, event).await?.check(after, limit, event).await
}

async fn followed_by(services: &Services, name: &str, event: &mut Event) -> Result<Follow> {
    let (repository, settings) = services.find(name, event).await?;
    if !repository.follows() {
        let text = format!("`{name}` follows no index of an upstream");
        return Err(BadSetting::new(text, "this is for remote repositories of gems, and of Koji hubs").into());
    }
    Ok(Follow::of(Served { services, repository: &repository, settings: &settings }))
}

/// Adds the number of held-back names to the metrics.
pub(crate) fn show_in_metrics(recorder: &Recorder, known: &Arc<ArcSwap<RepositoryTable>>) {
    let known = known.clone();
    let figures = move || {
        let known = known.load_full();
        let of = |one: &Arc<Repository>| {
            let held = one.followed()?.held_back.map_or(0, |held| held.names);
            Some((one.record.name.clone(), held as f64))
        };
        known.by_name.values().filter_map(of).collect()
    };
    let doc = "Names that the index of an upstream lately lacks and that are still served";
    recorder.figures(Metric::gauge("index_held_back_names", doc), By::Repository(Fold::Sum), figures);
}
