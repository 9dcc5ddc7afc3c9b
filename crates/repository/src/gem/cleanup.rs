//! The versions of gems that the rules of a repository no longer keep, and their removal.

use crate::cleanup::last_use::Uses;
use crate::cleanup::rules::{CleanupRules, Dated};
use crate::cleanup::{Cleanup, CleanupPlan, first_published};
use crate::error::Result;
use crate::gem::change_versions::change;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::facts;
use std::collections::BTreeMap;
use store::{Entry, Lane, State};
use telemetry::{Event, Millis};

/// Number of gems that one read of the store returns.
const PAGE: usize = 1_000;

/// Adds the versions that no rule keeps to the plan. If the cleanup has an actor, it removes them.
pub(crate) async fn cleanup(
    hosted: Hosted<'_>,
    cleanup: Cleanup<'_>,
    plan: &mut CleanupPlan,
    event: &mut Event,
) -> Result<()> {
    let Cleanup { rules, uses, by, at } = cleanup;
    let mut after = String::new();
    loop {
        let names = hosted.store.units(hosted.repository.id, &after, PAGE, event).await?;
        for name in &names {
            let used = match rules.ask_uses() {
                true => Some(uses.beginning(&format!("{name}-"), event).await?),
                false => None,
            };
            let gone = match by {
                None => {
                    let unit = hosted.store.unit(hosted.repository.id, name, Lane::Index, event).await?;
                    surplus(&unit.entries, rules, used.as_ref(), at)?
                }
                Some(by) => {
                    let which = |entries: &[Entry], at| surplus(entries, rules, used.as_ref(), at);
                    let gone = change(hosted, name, which, by, event).await?;
                    uses.forget(gone.iter().map(|entry| entry.key.clone()).collect(), event).await?;
                    gone
                }
            };
            for entry in gone {
                plan.withdraw(rules.name(), hosted.repository.id, &entry);
            }
        }
        match names.last() {
            Some(last) if names.len() == PAGE => after.clone_from(last),
            _ => return Ok(()),
        }
    }
}

/// The entries of the versions that no rule keeps, in their withdrawn state. A version is a number with its builds for
/// all platforms.
fn surplus(entries: &[Entry], rules: CleanupRules, uses: Option<&Uses>, at: Millis) -> Result<Vec<Entry>> {
    let mut versions: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.state == State::Live) {
        versions.entry(facts(entry)?.number.as_str().to_owned()).or_default().push(entry);
    }
    let dated = versions.into_iter().filter_map(|(number, builds)| {
        let (name, came) =
            (format!("{}-{number}", builds.first()?.unit), builds.iter().map(|entry| entry.changed).max()?);
        // Clients may request a build under another name of its platform.
        let is = |used: &str| used.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let used = uses.map_or(at, |uses| uses.last(came, is));
        Some(Dated { published: first_published(&builds)?, used, what: builds })
    });
    let gone = rules.surplus(dated.collect()).into_iter().flat_map(|version| version.what);
    let rule = rules.withdrawal();
    Ok(gone.map(|entry| entry.withdrawn(rule.clone(), at)).collect())
}
