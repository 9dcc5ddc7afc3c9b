//! What the program tells about itself: certificates, the disk, names, indexes, hooks, settings, receivers of alerts.

use std::time::Duration;
use telemetry::Millis;

/// What the program tells about itself.
#[derive(Debug, Clone, Default)]
pub struct ProgramFacts {
    /// The certificates in use.
    pub certificates: Vec<CertificateFact>,
    /// The certificate authority that gives no certificate. `None`: none is asked, or the last attempt succeeded.
    pub renewal: Option<RenewalFact>,
    /// The disk of the data folder. `None`: it was not measured yet.
    pub disk: Option<DiskFact>,
    /// Why nothing, or no content, is written.
    pub read_only: Option<ReadOnlyFact>,
    /// Published files that were requested and whose bytes are nowhere.
    pub missing_files: u64,
    /// The groups of gems with names that wait for a decision.
    pub waiting_names: Vec<WaitingNamesFact>,
    /// The remote repositories whose index is held back, or that are behind.
    pub indexes: Vec<IndexFact>,
    /// The remote repositories and groups that ever took a hook.
    pub hooks: Vec<HooksFact>,
    /// Warnings about settings that do not fit together, as the start gives them.
    pub contradictions: Vec<String>,
    /// The receivers of alerts that take none.
    pub receivers: Vec<ReceiverFact>,
}

/// A receiver of alerts that takes none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceiverFact {
    /// Its name.
    pub name: String,
    /// Since when each attempt failed.
    pub since: Millis,
    /// Why the last one failed, for people.
    pub why: String,
    /// Attempts since then.
    pub attempts: u64,
    /// Alerts that it does not know.
    pub waiting: u64,
    /// Open alerts that it refused for good, which are not sent again.
    pub refused: u64,
}

/// A certificate in use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CertificateFact {
    /// Of the server's own its name in metrics, `server`; of one that is shown to an upstream the repository.
    pub name: String,
    /// It is shown to an upstream.
    pub is_of_upstream: bool,
    /// The first moment at which it is valid, if that is known.
    pub begins: Option<Millis>,
    /// The last moment at which it is valid.
    pub ends: Millis,
    /// Its files have another certificate, which cannot be used.
    pub is_refused: bool,
}

/// The attempts to get a certificate from an authority (ACME) that failed one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenewalFact {
    /// The host of its directory, with the port where the URL has one.
    pub authority: String,
    /// The names that the certificate is for.
    pub names: Vec<String>,
    /// When the first of them failed.
    pub since: Millis,
    /// Why the last one failed, for people.
    pub why: String,
    /// How many they are.
    pub attempts: u64,
    /// When the next one begins.
    pub next: Millis,
    /// The end of the certificate in use. `None`: there was never one.
    pub ends: Option<Millis>,
}

/// The disk of the data folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskFact {
    /// Free bytes now.
    pub free_bytes: u64,
    /// Nothing is written below this many.
    pub floor_bytes: u64,
    /// How many were free before, at most an hour ago: how long ago, by the monotonic clock, and how many.
    pub within_hour: Option<(Duration, u64)>,
    /// The same at most two and a half days ago.
    pub within_days: Option<(Duration, u64)>,
}

/// Why nothing, or no content, is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOnlyFact {
    /// Why, for people.
    pub why: String,
    /// It is for lack of space.
    pub is_for_space: bool,
}

/// Names of gems that several members of a group have, and that wait for a decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingNamesFact {
    /// The group.
    pub group: String,
    /// How many names wait.
    pub names: usize,
    /// One of them.
    pub name: String,
    /// The member whose it is now.
    pub owner: String,
    /// The members that began to have it.
    pub waiting: Vec<String>,
}

/// The index of a remote repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexFact {
    /// The repository.
    pub repository: String,
    /// The last look that showed that it is current.
    pub proven: Option<Millis>,
    /// Why later looks failed.
    pub failure: Option<&'static str>,
    /// Since when it is behind its upstream. `None`: it is not, as far as is known.
    pub behind_since: Option<Millis>,
    /// Names that a newer index lacks, which is held back, and since when. `None`: none is, or somebody accepted it.
    pub held_back: Option<(usize, Millis)>,
}

/// The hooks of a remote repository or a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HooksFact {
    /// The repository.
    pub repository: String,
    /// When the last hook was taken, also before the start.
    pub last: Option<Millis>,
    /// Changes of the upstream that were found since then and that no hook announced.
    pub lost: u64,
    /// Hooks that the upstream does not agree with yet.
    pub waiting: usize,
}
