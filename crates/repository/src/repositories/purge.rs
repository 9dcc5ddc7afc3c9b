//! Purging: an operator removes files with their bytes, and nobody can restore them or publish them again.

use crate::actor::Actor;
use crate::bad_setting::BadSetting;
use crate::cleanup::CleanupPlan;
use crate::cleanup::purge::{PurgePlan, WHY_MAX};
use crate::error::Result;
use crate::error::purged::Purged;
use crate::face::Face;
use crate::formats::face;
use crate::group::kept_names::kept_of;
use crate::listed::PageRequest;
use crate::repositories::Repositories;
use crate::repositories::contents::forget_files;
use crate::repositories::frees::{frees_cached, frees_of};
use crate::repository::Repository;
use std::collections::BTreeSet;
use store::{Entry, RepositoryKind};
use telemetry::{Event, Op};

/// Number of cached files that one read of the store returns.
const PAGE: usize = 1_000;

impl Repositories {
    /// Purges a path, a package or a version. In a remote repository it deletes the cached files. `by`: the caller on
    /// whose behalf it purges; `None`: it only plans.
    pub async fn purge(
        &self,
        name: &str,
        what: &str,
        why: &str,
        by: Option<Actor<'_>>,
        event: &mut Event,
    ) -> Result<PurgePlan> {
        if why.trim().is_empty() || why.len() > WHY_MAX || why.chars().any(char::is_control) {
            let text =
                format!("a purge needs a reason of 1 to {WHY_MAX} bytes in one line, without control characters");
            return Err(BadSetting::new(
                text,
                "`--why TEXT`; it is shown when somebody tries to publish the same again",
            )
            .into());
        }
        if what.trim_matches('/').is_empty() {
            let text = "a purge names what goes";
            return Err(BadSetting::new(text, "a path, a package, or a package and a version: `NAME:VERSION`").into());
        }
        let _turn = event.waited(Op::TurnWait, self.cleaning.lock()).await;
        let (repository, settings) = self.find(name, event).await?;
        let mut plan = CleanupPlan::new(name);
        let entries = match repository.record.kind {
            RepositoryKind::Group => {
                let text = format!("`{name}` is a group and holds nothing itself");
                return Err(BadSetting::new(text, "name the member that holds it").into());
            }
            RepositoryKind::Remote => {
                let path = repository.format.rules().named_path(what);
                self.purge_cached(&repository, &path, by.is_some(), &mut plan, event).await?;
                let frees = frees_cached(&self.services, plan.cached_bytes);
                return Ok(PurgePlan { plan, also_in: BTreeSet::new(), frees, kept_names: Vec::new() });
            }
            RepositoryKind::Hosted => {
                let served = self.served(&repository, &settings);
                face!(repository.format, purge(served, what, why, by, event).await)?
            }
        };
        if entries.is_empty() {
            return Err(Purged::Nothing { what: what.to_owned() }.into());
        }
        for entry in &entries {
            plan.withdraw("purge", repository.id, entry);
        }
        let frees = frees_of(&self.services, std::mem::take(&mut plan.withdrawals), by.is_some(), event).await?;
        let also_in = self.shared_with(&repository, &entries, event).await?;
        let kept_names = match by {
            Some(_) => kept_of(&self.services, repository.gives_back(), &repository, &entries, event).await,
            None => Vec::new(),
        };
        Ok(PurgePlan { plan, also_in, frees, kept_names })
    }

    async fn purge_cached(
        &self,
        repository: &Repository,
        path: &str,
        apply: bool,
        plan: &mut CleanupPlan,
        event: &mut Event,
    ) -> Result<()> {
        let (part, mut after) = (PageRequest { path, after: "", limit: PAGE }, String::new());
        loop {
            let rows = self.services.store.cached_files(repository.origin, path, &after, PAGE, event).await?;
            for (path, cached) in rows.iter().filter(|(path, _)| part.has(path)) {
                plan.drop_cached("purge", path, cached.hashes.size_bytes);
            }
            match rows.last() {
                Some((last, _)) if rows.len() == PAGE => after.clone_from(last),
                _ => break,
            }
        }
        match plan.rules.is_empty() {
            true => {
                // A page or an open file may still have one that was evicted.
                self.services.store.upstream_changed(repository.id, repository.file(path).folder);
                Err(Purged::Nothing { what: path.to_owned() }.into())
            }
            false if apply => forget_files(&self.services, repository, path, event).await.map(drop),
            false => Ok(()),
        }
    }

    /// The names of the other repositories that have live entries of the same bytes.
    async fn shared_with(
        &self,
        repository: &Repository,
        entries: &[Entry],
        event: &mut Event,
    ) -> Result<BTreeSet<String>> {
        let known = self.table(event).await?;
        let mut names = BTreeSet::new();
        for digest in entries.iter().map(|entry| entry.hashes.sha256).collect::<BTreeSet<_>>() {
            let ids = self.services.store.named_by(digest, event).await?;
            let others = known.by_name.values().filter(|one| one.id != repository.id && ids.contains(&one.id));
            names.extend(others.map(|one| one.record.name.clone()));
        }
        Ok(names)
    }
}
