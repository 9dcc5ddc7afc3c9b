//! The versions and files that a cleanup of a repository removes, by rule.

use crate::group::kept_names::KeptName;
use std::collections::BTreeSet;
use store::{Entry, Frees, RepositoryId, Withdrawals};
use telemetry::Millis;

/// Maximum number of versions or files that a plan names for each rule.
const NAMES_MAX: usize = 10_000;
/// How many of these are shown as examples.
const EXAMPLES: usize = 5;

/// The cleanup of several repositories, as planned or as carried out.
#[derive(Debug)]
pub struct Cleanups {
    /// One for each repository.
    pub plans: Vec<CleanupPlan>,
    /// The space that all of them free together.
    pub frees: Frees,
}

/// What a cleanup of one repository removes or removed.
#[derive(Debug, Clone)]
pub struct CleanupPlan {
    /// The name of the repository.
    pub repository: String,
    /// Whether the repository has rules for cleanup.
    pub has_rules: bool,
    /// The rules that remove something.
    pub rules: Vec<RulePlan>,
    /// The rule for unused versions removes nothing before this moment, because last uses have not been recorded for
    /// long enough.
    pub waits_until: Option<Millis>,
    /// The names that stay with the repository although a cleanup left nothing of them.
    pub kept_names: Vec<KeptName>,
    /// The units of the entries to withdraw.
    pub(crate) units: BTreeSet<String>,
    /// The entries to withdraw.
    pub(crate) withdrawals: Withdrawals,
    /// The sum of the sizes of the cached files to delete.
    pub(crate) cached_bytes: u64,
}

/// The removals by one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePlan {
    /// The rule, as settings name it.
    pub rule: &'static str,
    /// The number of removed versions; in a remote repository, of files.
    pub versions: u64,
    /// The number of removed files.
    pub files: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// The versions or files, 10,000 at most.
    pub names: Vec<String>,
}

/// The builds of snapshots that a change of the rules deletes.
#[derive(Debug, Clone)]
pub struct PrunePlan {
    /// The deleted files; `None`: all are kept.
    pub files: Option<RulePlan>,
    /// The space that becomes free, and when.
    pub frees: Frees,
    /// When the undo window of these files ends.
    pub restorable_until: Millis,
}

impl RulePlan {
    /// The first of the names.
    pub fn examples(&self) -> &[String] {
        &self.names[..self.names.len().min(EXAMPLES)]
    }
}

impl CleanupPlan {
    pub(crate) fn new(repository: &str) -> Self {
        let (rules, withdrawals) = (Vec::new(), Withdrawals::default());
        let (repository, units, kept_names) = (repository.to_owned(), BTreeSet::new(), Vec::new());
        Self { repository, has_rules: true, rules, waits_until: None, kept_names, units, withdrawals, cached_bytes: 0 }
    }

    /// Adds an entry, in its withdrawn state, that the rule removes.
    pub(crate) fn withdraw(&mut self, rule: &'static str, repository: RepositoryId, entry: &Entry) {
        self.add(rule, &entry.key, 1, entry.hashes.size_bytes);
        self.units.insert(entry.unit.clone());
        self.withdrawals.add(repository, entry);
    }

    /// Adds a cached file that the rule removes.
    pub(crate) fn drop_cached(&mut self, rule: &'static str, path: &str, size_bytes: u64) {
        self.add(rule, path, 1, size_bytes);
        self.cached_bytes += size_bytes;
    }

    /// Adds files that the rule removes, under the name of their version.
    pub(crate) fn add(&mut self, rule: &'static str, name: &str, files: u64, size_bytes: u64) {
        let at = self.rules.iter().position(|one| one.rule == rule).unwrap_or_else(|| {
            self.rules.push(RulePlan { rule, versions: 0, files: 0, size_bytes: 0, names: Vec::new() });
            self.rules.len() - 1
        });
        let sum = &mut self.rules[at];
        sum.versions += 1;
        sum.files += files;
        sum.size_bytes += size_bytes;
        if sum.names.len() < NAMES_MAX {
            sum.names.push(name.to_owned());
        }
    }
}
