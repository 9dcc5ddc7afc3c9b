//! Which paths a hosted repository of Maven takes besides those of Maven's layout.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use telemetry::Event;

/// Whether uploads must follow Maven's layout. A closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LayoutPolicy {
    /// They must.
    #[default]
    Maven,
    /// Any other path is a plain file, as Ivy's patterns have them.
    Any,
}

impl LayoutPolicy {
    const ALL: &'static [LayoutPolicy] = &[LayoutPolicy::Maven, LayoutPolicy::Any];

    /// Its name in settings, journal rows and the API.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            LayoutPolicy::Maven => "maven",
            LayoutPolicy::Any => "any",
        }
    }

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
