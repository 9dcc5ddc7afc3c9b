//! Asks one member of a group, and records its answer and the cost.

use crate::content::Content;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::tree::fetch as tree_fetch;
use crate::tree::file::File;
use crate::tree::prefix_index;
use crate::tree::remote;
use crate::upstream::Remote;
use crate::upstream::known_files::LookedUp;
use std::sync::Arc;
use std::time::Duration;
use store::RepositoryKind;
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason, Tick};

/// The answer of a member.
#[derive(Debug)]
pub(crate) struct MemberAnswer {
    pub(crate) content: Result<Content>,
    /// For the event of the request.
    pub(crate) record: MemberRecord,
    /// Details for operators only: the cause of a failure, or the rule that hides or exempts the file.
    pub(crate) detail: String,
}

impl Group<'_> {
    /// Asks a member of the group for a file.
    pub(crate) async fn ask(self, leaf: &Arc<Repository>, file: &File<'_>, now: Millis) -> MemberAnswer {
        self.ask_with(leaf, file, None, now).await
    }

    /// The same with the look that was made for the request.
    pub(crate) async fn ask_with(
        self,
        leaf: &Arc<Repository>,
        file: &File<'_>,
        looked_up: Option<Arc<LookedUp>>,
        now: Millis,
    ) -> MemberAnswer {
        let (began, mut event) = (Tick::now(), self.place.part(now));
        let content = match leaf.record.kind {
            RepositoryKind::Remote => {
                remote::fetch(&Remote { looked_up, ..self.upstream(leaf) }, file, &mut event).await
            }
            RepositoryKind::Hosted | RepositoryKind::Group => self.published(leaf, file, now, &mut event).await,
        };
        if let Err(Error::Hidden(why)) = &content {
            event.detail = why.to_string();
        }
        // A remote repository records its own work.
        let told = event.members.pop().unwrap_or_else(|| record(leaf, &content));
        let (nanos, ops) = (Tick::now().since(began), event.tallies().collect());
        let upstream = event.more.take().and_then(|more| more.upstream).map(Box::new);
        let record = MemberRecord { nanos, ops, detail: event.detail.clone(), upstream, ..told };
        MemberAnswer { content, record, detail: event.detail }
    }

    /// Whether it is known that no folder of a hosted member ever had this prefix.
    pub(crate) async fn lacks(self, leaf: &Repository, folder: &str, now: Millis, event: &mut Event) -> Result<bool> {
        prefix_index::lacks(self.store, self.inventory, leaf.id, folder, now, event).await
    }

    /// The file of a hosted member at a path.
    async fn published(
        self,
        leaf: &Arc<Repository>,
        file: &File<'_>,
        now: Millis,
        event: &mut Event,
    ) -> Result<Content> {
        if self.lacks(leaf, file.folder, now, event).await? {
            return Err(Error::NoSuchFile(file.path.to_owned()));
        }
        let file = &file.without_query();
        let tree = Tree { store: self.store, context: self.context, repository: leaf };
        tree_fetch::fetch(tree, self.inventory, file, now, event).await
    }
}

/// The record of a hosted repository's answer.
fn record(leaf: &Repository, content: &Result<Content>) -> MemberRecord {
    let (said, reason) = match content {
        Ok(_) => (MemberSaid::Hit, None),
        Err(error) if error.is_absence() || error.reason() == Reason::Unkept => {
            (MemberSaid::NotFound, Some(error.reason()))
        }
        Err(error @ Error::Hidden(_)) => (MemberSaid::Blocked, Some(error.reason())),
        Err(error) => (MemberSaid::Failed, Some(error.reason())),
    };
    MemberRecord::new(&leaf.record.name, said, reason)
}

/// The record of a member that did not answer within this time.
pub(crate) fn late(leaf: &Repository, waited: Duration) -> MemberRecord {
    let nanos = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
    let late = MemberRecord::new(&leaf.record.name, MemberSaid::Timeout, Some(Reason::UpstreamTimeout));
    MemberRecord { nanos, ..late }
}
