//! The time of each repository's last hook, in the data folder, so that lost hooks are found after a restart, too. If
//! the file is lost, no hook counts as lost until the next hook.

use crate::face::Face;
use crate::format::Format;
use crate::formats::face;
use crate::index::rope::form;
use crate::repository::RepositoryTable;
use crate::services::Services;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use store::RepositoryKind;
use telemetry::{Event, Job, Millis};

/// The name of the file.
const FILE: &str = "hooks";

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    last: Millis,
}

/// Reads the file; `None`: it is not valid.
fn read_head(bytes: Bytes) -> Option<Head> {
    form::read(bytes).map(|(head, _)| head)
}

/// Reads the file at a start.
pub(crate) async fn restore_hints(services: &Services, event: &mut Event) {
    let known = services.known.load_full();
    for repository in known.by_name.values().filter(|one| one.record.kind != RepositoryKind::Hosted) {
        if let Ok(Some(Head { last })) = services.context.read_derived(repository.id, FILE, event, read_head).await {
            repository.shared.hints.restore(last);
        }
    }
}

/// Writes new times, at most once an hour for each repository.
pub(crate) async fn keep_hints(services: &Services, table: &RepositoryTable) {
    for repository in table.by_name.values() {
        let Some(last) = repository.shared.hints.unkept() else { continue };
        let Some(parts) = form::write(&Head { last }, Vec::new()) else { continue };
        let mut job = Job::begin(&services.context.recorder, "index.keep");
        job.subject.kind = FILE;
        let done = services.store.keep_derived(repository.id, FILE, parts, &mut job).await;
        if let Err(error) = &done {
            (job.reason, job.detail) = (Some(crate::error::store_reason(error)), error.to_string());
        }
        job.end_as(&done);
    }
}

/// Whether the content of a file of that name in the folder of indexes can be read. Files of other names are never read.
pub fn can_read_derived(file: &str, bytes: Bytes) -> bool {
    match file {
        FILE => read_head(bytes).is_some(),
        file => Format::ALL.iter().find_map(|format| face!(*format, can_read(file, &bytes))).unwrap_or(true),
    }
}
