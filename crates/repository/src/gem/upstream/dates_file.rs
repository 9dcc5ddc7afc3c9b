//! The dates that files of `/info` told, in the data folder: a start does not read all these files again. If they are lost, versions count
//! as young until their file is asked for again.

use crate::context::Context;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::listing::Dates;
use crate::index::rope::form;
use crate::repository::Repository;
use serde::{Deserialize, Serialize};
use telemetry::{Event, Outcome, Tick};

/// The name of the file.
const FILE: &str = "dates";
/// They are written while the server runs when so many of all are new: one of so many.
const NEW: usize = 10;

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The upstream that they are of.
    origin: i64,
    gems: Vec<(String, Dates)>,
}

/// Adds the dates that were written before the start.
pub(crate) async fn read(context: &Context, repository: &Repository, known: &mut Known, event: &mut Event) {
    let Ok(Some(bytes)) = context.store.derived(repository.id, FILE, event).await else { return };
    let Some((Head { origin, gems }, _)) = form::read::<Head>(bytes) else { return };
    if origin == repository.origin.number() {
        known.listing.set_dates(gems);
    }
}

/// Writes the dates that are new. `all`: also where they are few.
pub(crate) async fn keep(context: &Context, repository: &Repository, all: bool) {
    let origin = repository.origin;
    let news = repository.shared.followed.change(origin, |known| {
        let (new, dated) = known.listing.new_dates();
        let worth = new > 0 && (all || new * NEW >= dated);
        worth.then(|| Head { origin: origin.number(), gems: known.listing.take_new_dates() })
    });
    let Some(parts) = news.flatten().and_then(|head| form::write(&head, Vec::new())) else { return };
    context.recorder.attempt();
    let mut event = Event::job("index.keep", context.recorder.clock().now());
    event.subject.kind = FILE;
    let done = context.store.keep_derived(repository.id, FILE, parts, &mut event).await;
    event.outcome = Some(if done.is_ok() { Outcome::Done } else { Outcome::Failed });
    if let Err(error) = done {
        let error = crate::error::Error::from(error);
        (event.reason, event.detail) = (Some(error.reason()), error.to_string());
    }
    event.duration = Tick::now().since(event.began);
    context.recorder.release(event);
}
