//! The versions of one gem in one repository: the rows of a hosted repository, or the lines of an upstream.

use crate::content::soonest;
use crate::error::Result;
use crate::gem::info_lines::facts;
use crate::gem::upstream::info_rows::InfoRow;
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::view::token_rows;
use crate::policy::rules::View;
use crate::repository::Repository;
use crate::visible::{next_change, visible};
use format::gem::json::FactsOf;
use format::gem::{dependencies, json, upstream};
use std::collections::HashSet;
use std::sync::Arc;
use store::Entry;
use telemetry::Millis;

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// All facts. For a gem of an upstream its `/info` is read.
    Whole,
    /// The facts in the known indexes.
    Brief,
}

/// The versions of one gem in one repository, of which the visible ones are read.
#[derive(Debug)]
pub(crate) struct GemRows {
    rows: Rows,
    repository: Arc<Repository>,
    now: Millis,
    /// When the upstream is checked again.
    again: Option<Millis>,
}

#[derive(Debug)]
enum Rows {
    Published(Vec<Entry>),
    /// The lines of an upstream's `/info`.
    Info(Vec<InfoRow>),
    /// The name, and its versions in an upstream's `/versions`.
    Listed(String, Listed),
}

impl GemRows {
    /// The rows of a hosted repository.
    pub(crate) fn published(rows: Vec<Entry>, repository: &Arc<Repository>, now: Millis) -> Self {
        Self { rows: Rows::Published(rows), repository: repository.clone(), now, again: None }
    }

    /// The lines of `/info`.
    pub(crate) fn of_info(
        lines: Vec<InfoRow>,
        again: Option<Millis>,
        repository: &Arc<Repository>,
        now: Millis,
    ) -> Self {
        Self { rows: Rows::Info(lines), repository: repository.clone(), now, again }
    }

    /// The versions in `/versions`.
    pub(crate) fn listed(name: &str, listed: Listed, repository: &Arc<Repository>, now: Millis) -> Self {
        Self { rows: Rows::Listed(name.to_owned(), listed), repository: repository.clone(), now, again: None }
    }

    /// The number of versions.
    pub(crate) fn count(&self) -> usize {
        match &self.rows {
            Rows::Published(rows) => rows.len(),
            Rows::Info(rows) => rows.len(),
            Rows::Listed(_, listed) => listed.versions.len(),
        }
    }

    /// When other versions become visible.
    pub(crate) fn until(&self) -> Option<Millis> {
        let view = self.repository.view(self.now);
        let next = match &self.rows {
            Rows::Published(rows) => next_change(rows, view),
            Rows::Info(rows) => next_change(rows, view),
            Rows::Listed(name, listed) => next_change(&token_rows(name, listed), view),
        };
        soonest(next, self.again)
    }

    fn versions(&self) -> Result<Vec<json::Published>> {
        let view = self.repository.view(self.now);
        Ok(match &self.rows {
            Rows::Published(rows) => return published(rows, view),
            Rows::Info(rows) => visible(rows, view).filter_map(|seen| of_line(seen.entry())).collect(),
            Rows::Listed(name, listed) => {
                let version = |token: &str| {
                    let package = upstream::package(name, token)?;
                    Some(json::Published { package, sha256: String::new(), at: String::new(), of: FactsOf::Versions })
                };
                visible(&token_rows(name, listed), view).filter_map(|seen| version(seen.entry().token)).collect()
            }
        })
    }

    /// The dependencies of each visible version, in the short form.
    fn briefs(&self) -> Result<Vec<String>> {
        let view = self.repository.view(self.now);
        match &self.rows {
            Rows::Published(rows) => {
                visible(rows, view).map(|seen| Ok(dependencies::brief(&facts(seen.entry())?))).collect()
            }
            Rows::Info(rows) => Ok(visible(rows, view).map(|seen| seen.entry().brief.clone()).collect()),
            // Only `/info` has dependencies.
            Rows::Listed(..) => Ok(Vec::new()),
        }
    }
}

/// The visible versions of a gem, for programs. If several members share the gem, each version comes from the first that
/// has it.
pub(crate) fn versions(gem: &[GemRows]) -> Result<Vec<json::Published>> {
    let (mut versions, mut known) = (Vec::new(), HashSet::new());
    for rows in gem {
        let key = |one: &json::Published| (one.package.number.as_str().to_owned(), one.package.platform.clone());
        versions.extend(rows.versions()?.into_iter().filter(|one| gem.len() == 1 || known.insert(key(one))));
    }
    Ok(versions)
}

/// The same for the dependencies of each version, in the short form.
pub(crate) fn briefs(gem: &[GemRows]) -> Result<Vec<String>> {
    let (mut briefs, mut known) = (Vec::new(), HashSet::new());
    for rows in gem {
        let key = |brief: &String| brief.split(' ').next().unwrap_or_default().to_owned();
        briefs.extend(rows.briefs()?.into_iter().filter(|one| gem.len() == 1 || known.insert(key(one))));
    }
    Ok(briefs)
}

/// The visible ones of `rows`.
pub(crate) fn published(rows: &[Entry], view: View<'_>) -> Result<Vec<json::Published>> {
    let one = |entry: &Entry| {
        let (sha256, at) = (entry.hashes.sha256.to_string(), entry.first_published().to_string());
        Ok(json::Published { package: facts(entry)?, sha256, at, of: FactsOf::Gemspec })
    };
    visible(rows, view).map(|seen| one(seen.entry())).collect()
}

/// A version from its line; `None`: its number or its dependencies cannot be parsed. If the line has no date, the date is the one from which
/// its age is counted: the cooldowns of Dependabot and Renovate need one (Dependabot fails without, Renovate 44 never offers the version).
fn of_line(row: &InfoRow) -> Option<json::Published> {
    let package = upstream::package(&row.name, &row.line)?;
    let sha256 = row.checksum.map(|checksum| store::Digest(checksum.0).to_string()).unwrap_or_default();
    let at = row.created_at.map_or_else(|| row.moment(), |seconds| Millis(seconds.saturating_mul(1000)));
    let at = if at == Millis(0) { String::new() } else { at.to_string() };
    Some(json::Published { package, sha256, at, of: FactsOf::Info })
}
