//! What a cleanup of a repository removes, rule by rule.

use store::{Entry, Frees, RepositoryId, Withdrawals};
use telemetry::Millis;

/// Most versions or files that a plan names for each rule.
const NAMES_MAX: usize = 10_000;
/// Of these, as many are examples.
const EXAMPLES: usize = 5;

/// The cleanup of several repositories, planned or made.
#[derive(Debug)]
pub struct Cleanups {
    /// One for each repository.
    pub plans: Vec<CleanupPlan>,
    /// What comes free of all of them together.
    pub frees: Frees,
}

/// What a cleanup of one repository removes, or removed.
#[derive(Debug, Clone)]
pub struct CleanupPlan {
    /// The name of the repository.
    pub repository: String,
    /// Whether it has rules at all.
    pub has_rules: bool,
    /// Its rules by which something is removed.
    pub rules: Vec<RulePlan>,
    /// Until then nothing goes for being unused: last uses have not been recorded for long enough.
    pub waits_until: Option<Millis>,
    /// The entries that are withdrawn.
    pub(crate) withdrawals: Withdrawals,
    /// The sum of the sizes of cached files that are dropped.
    pub(crate) cached_bytes: u64,
}

/// What one rule removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePlan {
    /// The rule, as settings name it.
    pub rule: &'static str,
    /// How many versions go; of an upstream, files.
    pub versions: u64,
    /// How many files go.
    pub files: u64,
    /// The sum of their sizes.
    pub size_bytes: u64,
    /// The versions or files, 10,000 at most.
    pub names: Vec<String>,
}

/// The builds of snapshots that changed rules delete.
#[derive(Debug, Clone)]
pub struct PrunePlan {
    /// The files; `None`: all are kept.
    pub files: Option<RulePlan>,
    /// How many bytes come free, and when.
    pub frees: Frees,
    /// Until when they can be restored.
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
        let repository = repository.to_owned();
        Self { repository, has_rules: true, rules, waits_until: None, withdrawals, cached_bytes: 0 }
    }

    /// Adds an entry, as its withdrawal leaves it, that goes by a rule.
    pub(crate) fn withdraw(&mut self, rule: &'static str, repository: RepositoryId, entry: &Entry) {
        self.add(rule, &entry.key, 1, entry.hashes.size_bytes);
        self.withdrawals.add(repository, entry);
    }

    /// Adds a cached file of an upstream that goes by a rule.
    pub(crate) fn drop_cached(&mut self, rule: &'static str, path: &str, size_bytes: u64) {
        self.add(rule, path, 1, size_bytes);
        self.cached_bytes += size_bytes;
    }

    /// Adds files that go by a rule, under the name of their version.
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
