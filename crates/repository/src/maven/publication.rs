//! The publication of a file: the items that its POM adds to lists, and the changes that follow.

use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
use crate::maven::listing_changes::PomListings;
use crate::maven::retention;
use crate::tree::Tree;
use crate::tree::further_changes::FurtherChanges;
use format::maven::LONGEST;
use format::maven::pom::Pom;
use format::tree as paths;
use serde_json::{Value, json};
use store::{EntryOrigin, Lane, Staged};
use telemetry::{Event, Millis, Op};

impl MavenPath<'_> {
    /// What the journal says of the file beside its bytes. The uploaded bytes are parsed if they are a POM.
    pub(crate) async fn upload_facts(&self, tree: Tree<'_>, staged: &Staged, event: &mut Event) -> Result<Value> {
        // A plain file belongs to no artifact.
        let Some(artifact) = self.artifact() else { return Ok(Value::Null) };
        let mut facts = json!({
            "group": artifact.group_id(),
            "artifact": artifact.artifact,
            "version": artifact.version,
            "classifier": artifact.classifier,
            "extension": artifact.extension,
        });
        if self.pom().is_some() {
            let bytes = staged.beginning(LONGEST as u64 + 1, event).await?;
            let read = move |(): &mut ()| Pom::read(&bytes).ok();
            let pom = tree.context.workers.run(Lane::Change, Op::PackageRead, event, read).await?;
            // An unreadable POM adds nothing to lists, and is published all the same.
            let lists = pom.map_or_else(PomListings::default, |pom| PomListings::of(artifact, pom));
            if lists != PomListings::default() {
                let lists = serde_json::to_value(lists);
                facts["lists"] = lists.map_err(|source| Error::Unreadable { key: self.path().to_owned(), source })?;
            }
        }
        Ok(facts)
    }

    /// The further changes that the publication of the file with these facts causes. `first`: its folder never had a file.
    pub(crate) async fn publishing(
        &self,
        tree: Tree<'_>,
        (facts, first): (&Value, bool),
        origin: Option<&EntryOrigin>,
        at: Millis,
        event: &mut Event,
    ) -> Result<FurtherChanges> {
        let mut changes = match self.pom() {
            Some(artifact) => {
                let lists = PomListings::read(self.path(), facts)?;
                FurtherChanges::publishing(tree, artifact, &lists, origin, at, event).await?
            }
            None => FurtherChanges::default(),
        };
        if first {
            changes.claim(tree, paths::folder(self.path()));
        }
        Ok(changes)
    }

    /// Has the older builds of a snapshot taken away, once the POM of another build is published.
    pub(crate) fn published(&self, tree: Tree<'_>) {
        if self.pom().is_some_and(|artifact| artifact.build.is_some()) {
            retention::after_build(tree, paths::folder(self.path()));
        }
    }
}
