//! Cleanup: plans what the rules of repositories no longer keep, and removes it on request.

use crate::actor::Actor;
use crate::cleanup::last_use::{LastUses, used_name};
use crate::cleanup::rules::CleanupRules;
use crate::cleanup::{Cleanup, CleanupPlan, Cleanups, PrunePlan};
use crate::error::Result;
use crate::face::Face;
use crate::formats::face;
use crate::group::kept_names::kept_of_units;
use crate::repositories::Repositories;
use crate::repositories::frees::{frees_cached, frees_of};
use crate::repository::Repository;
use format::tree;
use std::sync::Arc;
use store::{RepositoryKind, Withdrawals};
use telemetry::{Event, Millis, Op};

/// Number of cached files that one read of the store returns.
const PAGE: usize = 1_000;

impl Repositories {
    /// Plans the cleanup of these repositories; with no names, of all that have rules. `by`: the caller on whose behalf
    /// it removes versions; `None`: it only plans. `no_undo`: what it removes cannot be restored, and its bytes are deleted at once.
    pub async fn cleanup(
        &self,
        names: &[String],
        by: Option<Actor<'_>>,
        no_undo: bool,
        event: &mut Event,
    ) -> Result<Cleanups> {
        // Ages by a clock that may be wrong remove nothing, cached files included.
        if let (Some(_), Some(doubt)) = (by, self.services.store.clock_doubt()) {
            return Err(store::Error::Clock(doubt).into());
        }
        let _turn = event.waited(Op::TurnWait, self.cleaning.lock()).await;
        let mut all = Vec::new();
        for name in names {
            all.push(self.find(name, event).await?.0);
        }
        if names.is_empty() {
            all.extend(self.table(event).await?.by_name.values().cloned());
            all.sort_by(|a, b| a.record.name.cmp(&b.record.name));
        }
        let mut plans = Vec::new();
        for repository in all {
            let at = self.services.store.now();
            let rules = CleanupRules::of(&repository.record, at).map(|rules| rules.without_undo(no_undo));
            let without = rules.is_none() && repository.record.retention.is_none();
            if without && names.is_empty() {
                continue;
            }
            let mut plan = CleanupPlan { has_rules: !without, ..CleanupPlan::new(&repository.record.name) };
            if let Some(rules) = rules {
                self.cleanup_one(&repository, rules, by, at, &mut plan, event).await?;
            }
            if repository.record.retention.is_some() {
                self.add_pruned(&repository, by.is_some(), &mut plan, event).await?;
            }
            if by.is_some() {
                plan.kept_names = kept_of_units(
                    &self.services,
                    repository.gives_back(),
                    &repository,
                    std::mem::take(&mut plan.units),
                    event,
                )
                .await;
            }
            plans.push(plan);
        }
        let (mut withdrawals, mut cached_bytes) = (Withdrawals::default(), 0);
        for plan in &mut plans {
            withdrawals.append(std::mem::take(&mut plan.withdrawals));
            cached_bytes += plan.cached_bytes;
        }
        let frees = frees_of(&self.services, withdrawals, by.is_some(), event)
            .await?
            .and(frees_cached(&self.services, cached_bytes));
        Ok(Cleanups { plans, frees })
    }

    async fn cleanup_one(
        &self,
        repository: &Arc<Repository>,
        rules: CleanupRules,
        by: Option<Actor<'_>>,
        at: Millis,
        plan: &mut CleanupPlan,
        event: &mut Event,
    ) -> Result<()> {
        let uses = LastUses::of(&self.services.store, repository, event).await?;
        let cleanup = Cleanup { rules, uses, by, at };
        plan.waits_until = repository.record.keep_unused_s.and_then(|keep| uses.waits_until(keep, at));
        match repository.record.kind {
            RepositoryKind::Remote => self.cleanup_cached(repository, cleanup, plan, event).await,
            RepositoryKind::Hosted => {
                let settings = self.table(event).await?.stamp;
                face!(repository.format, cleanup(self.served(repository, &settings), cleanup, plan, event).await)
            }
            RepositoryKind::Group => Ok(()),
        }
    }

    /// Deletes cached files of an upstream that nobody used.
    async fn cleanup_cached(
        &self,
        repository: &Repository,
        cleanup: Cleanup<'_>,
        plan: &mut CleanupPlan,
        event: &mut Event,
    ) -> Result<()> {
        let Cleanup { rules, uses, by, .. } = cleanup;
        let mut after = String::new();
        loop {
            let rows = self.services.store.cached_files(repository.origin, "", &after, PAGE, event).await?;
            for (path, cached) in &rows {
                // Lists of versions are small, and clients request other ones.
                let subject = repository.file(path).subject("file");
                let Some(name) = used_name(subject.kind, &subject.package, &subject.version) else { continue };
                let name = name.to_string();
                let used = uses.beginning(&name, event).await?.last(cached.fetched, |used| used == name);
                if !rules.is_unused(used) {
                    continue;
                }
                if by.is_some() {
                    self.services.store.forget_cached(repository.origin, path, event).await?;
                    self.services.store.upstream_changed(repository.id, tree::folder(path));
                    uses.forget(vec![name], event).await?;
                }
                plan.drop_cached(rules.name(), path, cached.hashes.size_bytes);
            }
            match rows.last() {
                Some((last, _)) if rows.len() == PAGE => after.clone_from(last),
                _ => return Ok(()),
            }
        }
    }

    /// What the retention of a repository no longer keeps.
    pub async fn prune_plan(&self, repository: &Arc<Repository>, event: &mut Event) -> Result<PrunePlan> {
        let (mut plan, life) = (CleanupPlan::new(&repository.record.name), self.services.store.blob_life());
        self.add_pruned(repository, false, &mut plan, event).await?;
        let frees = frees_of(&self.services, plan.withdrawals, false, event).await?;
        let restorable_until = self.services.store.now().plus(life.undo.min(life.collect_after));
        Ok(PrunePlan { files: plan.rules.pop(), frees, restorable_until })
    }

    /// Adds what its retention no longer keeps to the plan.
    async fn add_pruned(
        &self,
        repository: &Arc<Repository>,
        apply: bool,
        plan: &mut CleanupPlan,
        event: &mut Event,
    ) -> Result<()> {
        let settings = self.table(event).await?.stamp;
        face!(repository.format, prune(self.served(repository, &settings), apply, plan, event).await)
    }
}
