//! The publication of a file: the items that its POM adds to lists, and the changes that follow.

use crate::error::Error;
use crate::maven::layout::MavenPath;
use crate::maven::listing_changes::PomListings;
use crate::maven::retention;
use crate::tree::Tree;
use crate::tree::further_changes::FurtherChanges;
use format::maven::LONGEST;
use format::maven::path::Artifact;
use format::maven::pom::Pom;
use format::tree;
use serde_json::{Value, json};
use store::{EntryOrigin, Lane, Staged};
use telemetry::{Event, Millis, Op};

/// The publication of a file.
#[derive(Debug)]
pub(crate) struct Publication<'a> {
    /// The folder that it is in.
    folder: &'a str,
    /// `None`: a plain file, which belongs to no artifact.
    artifact: Option<Artifact<'a>>,
    /// The items that the file adds to lists, if it is a POM.
    pom: Option<PomListings>,
}

impl<'a> Publication<'a> {
    /// Parses the uploaded bytes if they are a POM.
    pub(crate) async fn read(
        tree: Tree<'_>,
        path: &MavenPath<'a>,
        staged: &Staged,
        event: &mut Event,
    ) -> Result<Self, Error> {
        let (folder, artifact) = (tree::folder(path.path()), path.artifact());
        let Some(of) = path.pom() else { return Ok(Self { folder, artifact, pom: None }) };
        let bytes = staged.beginning(LONGEST as u64 + 1, event).await?;
        let read = move |(): &mut ()| Pom::read(&bytes).ok();
        let pom = tree.context.workers.run(Lane::Change, Op::PackageRead, event, read).await?;
        // An unreadable POM adds nothing to lists, and is published all the same.
        let lists = pom.map_or_else(PomListings::default, |pom| PomListings::of(of, pom));
        Ok(Self { folder, artifact, pom: Some(lists) })
    }

    /// The further changes that the publication of the file causes. `first`: its folder never had a file.
    pub(crate) async fn changes(
        &self,
        tree: Tree<'_>,
        first: bool,
        origin: Option<&EntryOrigin>,
        at: Millis,
        event: &mut Event,
    ) -> Result<FurtherChanges, Error> {
        let mut changes = match (&self.pom, self.artifact) {
            (Some(lists), Some(artifact)) => {
                FurtherChanges::publishing(tree, artifact, lists, origin, at, event).await?
            }
            _ => FurtherChanges::default(),
        };
        if first {
            changes.claim(tree, self.folder);
        }
        Ok(changes)
    }

    /// What the journal says of the file beside its bytes.
    pub(crate) fn facts(&self, key: &str) -> Result<Value, Error> {
        let Some(artifact) = &self.artifact else { return Ok(Value::Null) };
        let mut facts = json!({
            "group": artifact.group_id(),
            "artifact": artifact.artifact,
            "version": artifact.version,
            "classifier": artifact.classifier,
            "extension": artifact.extension,
        });
        if let Some(lists) = self.pom.as_ref().filter(|lists| **lists != PomListings::default()) {
            let lists = serde_json::to_value(lists);
            facts["lists"] = lists.map_err(|source| Error::Unreadable { key: key.to_owned(), source })?;
        }
        Ok(facts)
    }

    /// Has the older builds of a snapshot taken away, once the POM of another build is published.
    pub(crate) fn published(&self, tree: Tree<'_>, folder: &str) {
        if self.pom.is_some() && self.artifact.is_some_and(|artifact| artifact.build.is_some()) {
            retention::after_build(tree, folder);
        }
    }
}
