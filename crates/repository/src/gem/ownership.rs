//! Whether only the owners of a gem may change it.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use telemetry::Event;

telemetry::closed_list! {
    /// The effect of owners. A closed list.
    pub enum Ownership {
        /// Only the owners of a gem may change it.
        Enforced = "enforced",
        /// Owners are recorded and restrict nothing.
        Recorded = "recorded",
    }
}

impl Ownership {
    /// The value of that name.
    pub fn named(name: &str) -> Result<Self, BadSetting> {
        let found = Self::ALL.iter().copied().find(|one| one.as_str() == name);
        found.ok_or_else(|| {
            BadSetting::new(format!("`owners` cannot be `{}`", Event::text(name)), "there are: enforced, recorded")
        })
    }

    /// The value in a repository's settings.
    pub(crate) fn of(record: &RepositoryRecord) -> Self {
        if record.owners_enforced { Ownership::Enforced } else { Ownership::Recorded }
    }
}
