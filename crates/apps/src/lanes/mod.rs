//! The slots of an application and of its lanes. A slow page takes the slots of its lane, and no others.

mod glob;
mod lane;
mod path;
#[cfg(test)]
mod tests;

pub(crate) use lane::{LaneFull, LaneSlot};

use crate::options::{AppOptions, BadApp, LaneOptions};
use crate::view::LaneView;
use glob::Glob;
use lane::Lane;
use std::sync::Arc;
use telemetry::{Event, Recorder};

/// The most lanes of an application, and the most globs of a lane: each request that is passed on is compared with them.
const LANES_MAX: usize = 64;
/// The most slots. Each may take a connection.
const SLOTS_MAX: usize = 100_000;

/// A lane of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LaneId(usize);

/// The lanes of an application.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// In the order of the settings; the last one has the slots that no lane has.
    lanes: Vec<Lane>,
}

impl Lanes {
    /// The lanes of these settings. Their bounds are registered at `recorder`.
    pub(crate) fn new(options: &AppOptions, recorder: &Arc<Recorder>) -> Result<Self, BadApp> {
        let bad = |(what, hint)| BadApp { app: options.name.clone(), what, hint };
        let (read, rest) = read(options).map_err(bad)?;
        let of = |(globs, lane): (_, &LaneOptions)| Lane::new(&options.name, globs, &lane.paths, lane.slots, recorder);
        let mut lanes: Vec<Lane> = read.into_iter().zip(&options.lanes).map(of).collect();
        lanes.push(Lane::new(&options.name, Vec::new(), &[], rest, recorder));
        Ok(Self { lanes })
    }

    /// The lane of a path, still percent-encoded: the first that has a glob for it.
    pub(crate) fn of(&self, path: &str) -> LaneId {
        let rest = self.lanes.len() - 1;
        if rest == 0 {
            return LaneId(0);
        }
        let segments = path::segments(path);
        let lane = self.lanes[..rest].iter().position(|lane| lane.has(&segments));
        LaneId(lane.unwrap_or(rest))
    }

    /// Waits for a slot of a lane, first come, first served. Records the lane and how many requests wait for it already.
    pub(crate) async fn enter(&self, lane: LaneId, event: &mut Event) -> Result<LaneSlot, LaneFull> {
        self.lanes[lane.0].enter(event).await
    }

    /// Their states, for operators.
    pub(crate) fn view(&self) -> Vec<LaneView> {
        self.lanes.iter().map(Lane::view).collect()
    }
}

/// A problem, and its hint.
type Problem = (String, &'static str);

/// The globs of each lane, and the slots that no lane has.
fn read(options: &AppOptions) -> Result<(Vec<Vec<Glob>>, usize), Problem> {
    if options.slots == 0 || options.slots > SLOTS_MAX {
        let hint = "`slots` is how many requests it works on at once, such as the threads of all its workers";
        return Err((format!("it has {} slots", options.slots), hint));
    }
    if options.lanes.len() > LANES_MAX {
        return Err((format!("it has more than {LANES_MAX} lanes"), "let similar paths share a lane"));
    }
    let (mut read, mut rest) = (Vec::<Vec<Glob>>::new(), options.slots);
    for lane in &options.lanes {
        if lane.paths.is_empty() || lane.paths.len() > LANES_MAX {
            let hint = "name the paths of the lane, such as `paths = [\"/reports/**\"]`";
            return Err((format!("a lane has {} paths", lane.paths.len()), hint));
        }
        rest = rest.checked_sub(lane.slots).filter(|left| *left > 0 && lane.slots > 0).ok_or_else(|| {
            let (first, slots, all) = (&lane.paths[0], lane.slots, options.slots);
            let hint = "each lane needs a slot, and at least one must be left for all other paths";
            (format!("the lane `{first}` has {slots} slots, and {rest} of the {all} are left"), hint)
        })?;
        let mut globs = Vec::new();
        for path in &lane.paths {
            let hint = "`*` is any part of one segment, `**` any number of segments";
            let glob = Glob::new(path).map_err(|why| (format!("`{path}` is not a glob: {why}"), hint))?;
            if read.iter().flatten().chain(&globs).any(|other| *other == glob) {
                let hint = "the first lane with a path gets all its requests";
                return Err((format!("its lanes have the path `{path}` twice"), hint));
            }
            globs.push(glob);
        }
        read.push(globs);
    }
    Ok((read, rest))
}
