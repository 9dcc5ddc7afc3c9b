//! The names that a gem repository claims: in every group they are its own, even if other members have them too.

use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::group::is_hosted;
use crate::policy::package_version::{PackageVersion, Since};
use crate::record::RepositoryRecord;
use crate::repositories::Repositories;
use crate::repository::Repository;
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

/// The versions of an upstream that are not in a group any more, because a member of the group claims their name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedOver {
    /// The name.
    pub name: String,
    /// The group.
    pub group: String,
    /// Its remote member.
    pub repository: String,
    /// The number of versions that its upstream lists.
    pub versions: usize,
}

impl Repositories {
    /// The versions of upstreams that claims of these names by the repository hide in its groups, as far as the indexes
    /// are known. Shared names hide nothing.
    pub async fn claimed_over(
        &self,
        repository: &Repository,
        names: &[String],
        event: &mut Event,
    ) -> Result<Vec<ClaimedOver>, Error> {
        let table = self.table(event).await?;
        let mut found = Vec::new();
        for group in table.groups_with(repository.id) {
            for leaf in group.leaves.iter().filter(|leaf| !is_hosted(leaf) && leaf.id != repository.id) {
                for name in names {
                    let is_shared = leaf.rules.shares(&PackageVersion::gem(name, "", Since::Always).upstream());
                    let listed = leaf.shared.followed.gem(leaf.origin, name).filter(|_| !is_shared);
                    let versions = listed.map_or(0, |listed| listed.versions.len());
                    if versions > 0 {
                        let of = |one: &Repository| one.record.name.clone();
                        let (name, group, repository) = (name.clone(), of(group), of(leaf));
                        found.push(ClaimedOver { name, group, repository, versions });
                    }
                }
            }
        }
        Ok(found)
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
