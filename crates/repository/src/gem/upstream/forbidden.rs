//! The names of gems that a policy hides regardless of age. No upstream is called for them.

use crate::format::Format;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;

/// Why a version is hidden regardless of its age; with an empty `number`, the whole gem. `None`: its upstream may be
/// called.
pub(crate) fn forbidden(repository: &Repository, name: &str, number: &str) -> Option<Hidden> {
    let (package, version) = (name.into(), number.into());
    let what = PackageVersion { format: Format::Gem, package, version, since: Since::Always, upstream: true };
    repository.rules.forbids(&what)
}
