//! The names that a gem repository claims: in every group they are its own, even if other members have them too.

use crate::bad_setting::BadSetting;
use crate::record::RepositoryRecord;
use format::gem::name;
use store::RepositoryKind;
use telemetry::Event;

/// Maximum number of names that one repository claims.
const CLAIMS_MAX: usize = 1_000;

impl RepositoryRecord {
    /// Whether it claims the name.
    pub(crate) fn claims(&self, name: &str) -> bool {
        self.claims.binary_search_by(|claim| claim.as_str().cmp(name)).is_ok()
    }
}

/// Refuses invalid claims; sorts the others and removes duplicates. `own` says whether the repository is a gem
/// repository.
pub(crate) fn settle(record: &mut RepositoryRecord, own: bool) -> Result<(), BadSetting> {
    if record.claims.is_empty() {
        return Ok(());
    }
    if own && record.kind == RepositoryKind::Group {
        let text = "`claims` is a setting of hosted and remote repositories of gems";
        let hint = format!("a member of `{}` claims it: `daylight repo set MEMBER --claim GEM`", record.name);
        return Err(BadSetting::new(text, &hint));
    }
    if !own {
        return Err(BadSetting::not_for("claims", record, "hosted and remote repositories of gems"));
    }
    record.claims.sort_unstable();
    record.claims.dedup();
    if record.claims.len() > CLAIMS_MAX {
        let text = format!("`claims` has {CLAIMS_MAX} names at most, not {}", record.claims.len());
        return Err(BadSetting::new(text, "remove unneeded claims: `daylight repo set NAME --unclaim GEM`"));
    }
    // An upstream may list names that cannot be published here, so only names that cannot stand in an index line are
    // refused.
    match record.claims.iter().find(|claim| !name::plain(claim) || claim.len() > name::MAX) {
        None => Ok(()),
        Some(claim) => {
            let text = format!("`claims`: no gem can have the name `{}`", Event::text(claim));
            let hint = "the whole name of a gem, such as `rack`: letters, digits, `.`, `_` and `-`, without a version";
            Err(BadSetting::new(text, hint))
        }
    }
}
