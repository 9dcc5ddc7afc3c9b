//! Which paths a hosted repository of Maven takes besides those of Maven's layout.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use telemetry::Event;

telemetry::closed_list! {
    /// Whether uploads must follow Maven's layout. A closed list.
    #[derive(Default)]
    pub(crate) enum LayoutPolicy {
        /// They must.
        #[default]
        Maven = "maven",
        /// Any other path is a plain file, as Ivy's patterns have them.
        Any = "any",
    }
}

impl LayoutPolicy {
    /// The policy of that name.
    pub(crate) fn named(name: &str) -> Result<Self, BadSetting> {
        let found = Self::ALL.iter().copied().find(|policy| policy.as_str() == name);
        found.ok_or_else(|| {
            BadSetting::new(format!("`layout` cannot be `{}`", Event::text(name)), "there are: maven, any")
        })
    }

    /// The policy that a repository's settings name.
    pub(crate) fn of(record: &RepositoryRecord) -> Self {
        record.layout.as_deref().and_then(|name| Self::named(name).ok()).unwrap_or_default()
    }
}
