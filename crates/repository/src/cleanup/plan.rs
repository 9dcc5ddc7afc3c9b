//! The versions and files that a cleanup of a repository removes, by rule.

use crate::group::kept_names::KeptName;
use crate::moment::{self, Moment};
use schemars::JsonSchema;
use serde::Serialize;
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CleanupPlan {
    /// The name of the repository.
    pub repository: String,
    /// Whether rules are set for it at all.
    pub has_rules: bool,
    /// The rules that remove something.
    pub rules: Vec<RulePlan>,
    /// Until then nothing goes for being unused: last uses are not recorded for long enough.
    #[serde(serialize_with = "moment::some")]
    #[schemars(with = "Option<Moment>")]
    pub waits_until: Option<Millis>,
    /// Names of which nothing is left, and which stay with the repository all the same: the group asks no upstream for them.
    #[schemars(length(max = 100))]
    pub kept_names: Vec<KeptName>,
    /// The units of the entries to withdraw.
    #[serde(skip)]
    pub(crate) units: BTreeSet<String>,
    /// The entries to withdraw.
    #[serde(skip)]
    pub(crate) withdrawals: Withdrawals,
    /// The sum of the sizes of the cached files to delete.
    #[serde(skip)]
    pub(crate) cached_bytes: u64,
}

/// The removals by one rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RulePlan {
    /// The settings that no longer keep it.
    pub rule: &'static str,
    /// How many versions, or files of an upstream, go.
    pub versions: u64,
    /// The number of removed files.
    pub files: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// The first five of them.
    pub examples: Vec<String>,
    /// All of them, 10,000 at most: `versions` counts them.
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
            self.rules.push(RulePlan { rule, ..RulePlan::default() });
            self.rules.len() - 1
        });
        let sum = &mut self.rules[at];
        sum.versions += 1;
        sum.files += files;
        sum.size_bytes += size_bytes;
        if sum.examples.len() < EXAMPLES {
            sum.examples.push(name.to_owned());
        }
        if sum.names.len() < NAMES_MAX {
            sum.names.push(name.to_owned());
        }
    }
}
