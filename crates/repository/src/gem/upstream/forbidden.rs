//! Names of gems that policy hides whatever their age: no upstream is asked for one.

use crate::format::Format;
use crate::policy::hidden::Hidden;
use crate::policy::package_version::{PackageVersion, Since};
use crate::repository::Repository;

/// Why a version is hidden whatever its age, or a whole gem where `number` is empty. `None`: its upstream may be asked for it.
pub(crate) fn forbidden(repository: &Repository, name: &str, number: &str) -> Option<Hidden> {
    let (package, version) = (name.into(), number.into());
    let what = PackageVersion { format: Format::Gem, package, version, since: Since::Always, upstream: true };
    repository.rules.forbids(&what)
}
