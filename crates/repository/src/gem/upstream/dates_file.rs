//! Saves the dates from `/info` files in the data folder, so that a start need not read all these files. If the dates
//! are lost, versions count as young until their `/info` is requested again.

use crate::context::Context;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::listing::Dates;
use crate::index::rope::form;
use crate::repository::Repository;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use telemetry::{Event, Job};

/// The name of the file.
pub(crate) const FILE: &str = "dates";
/// They are saved during operation when one in this number is new.
const NEW: usize = 10;

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The upstream of the dates.
    origin: i64,
    gems: Vec<(String, Dates)>,
}

/// Reads the file; `None`: it is not valid.
pub(crate) fn read_head(bytes: Bytes) -> Option<Head> {
    form::read(bytes).map(|(head, _)| head)
}

/// Loads the saved dates.
pub(crate) async fn read(context: &Context, repository: &Repository, known: &mut Known, event: &mut Event) {
    let head = context.read_derived(repository.id, FILE, event, read_head).await;
    let Ok(Some(Head { origin, gems })) = head else { return };
    if origin == repository.origin.number() {
        known.listing.set_dates(gems);
    }
}

/// Saves the dates if enough are new, or in any case if `all`.
pub(crate) async fn keep(context: &Context, repository: &Repository, all: bool) {
    let origin = repository.origin;
    let news = repository.shared.gems().followed.change(origin, |known| {
        let (new, dated) = known.listing.new_dates();
        let worth = new > 0 && (all || new * NEW >= dated);
        worth.then(|| Head { origin: origin.number(), gems: known.listing.take_new_dates() })
    });
    let Some(parts) = news.flatten().and_then(|head| form::write(&head, Vec::new())) else { return };
    let mut job = Job::begin(&context.recorder, "index.keep");
    job.subject.kind = FILE;
    let done = context.store.keep_derived(repository.id, FILE, parts, &mut job).await;
    if let Err(error) = &done {
        (job.reason, job.detail) = (Some(crate::error::store_reason(error)), error.to_string());
    }
    job.end_as(&done);
}
