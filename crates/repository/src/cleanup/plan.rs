//! What a cleanup of a repository takes away, rule by rule.

use telemetry::Millis;

/// Most versions or files that a plan names for each rule.
const EXAMPLES: usize = 5;

/// What a cleanup of one repository takes away, or took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanupPlan {
    /// The name of the repository.
    pub repository: String,
    /// Its rules that take something away.
    pub rules: Vec<RulePlan>,
    /// Until then nothing goes for being unused: last uses have not been recorded for long enough.
    pub waits_until: Option<Millis>,
}

/// What one rule takes away.
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
    /// Some of the versions or files.
    pub examples: Vec<String>,
}

impl CleanupPlan {
    pub(crate) fn new(repository: &str) -> Self {
        Self { repository: repository.to_owned(), rules: Vec::new(), waits_until: None }
    }

    /// Adds a version, or a file of an upstream, that goes by a rule.
    pub(crate) fn add(&mut self, rule: &'static str, name: &str, files: u64, size_bytes: u64) {
        let at = self.rules.iter().position(|one| one.rule == rule).unwrap_or_else(|| {
            self.rules.push(RulePlan { rule, versions: 0, files: 0, size_bytes: 0, examples: Vec::new() });
            self.rules.len() - 1
        });
        let sum = &mut self.rules[at];
        sum.versions += 1;
        sum.files += files;
        sum.size_bytes += size_bytes;
        if sum.examples.len() < EXAMPLES {
            sum.examples.push(name.to_owned());
        }
    }
}
