//! Paths of upstreams that policy hides whatever their age.

use crate::policy::hidden::Hidden;
use crate::policy::package_version::Since;
use crate::policy::rules::Rules;
use crate::raw::layout::RawPath;
use format::tree;

/// Why nothing at `file` may be seen, whatever its age.
pub(crate) fn hidden(file: RawPath<'_>, rules: &Rules) -> Option<Hidden> {
    if tree::is_ambiguous(file.0) {
        return rules.cannot_classify(file.0);
    }
    rules.forbids(&file.named(Since::Always).upstream()).or_else(|| {
        // A listing tells of everything in a folder.
        let folder = format!("{}/", file.0);
        rules.denies(&RawPath(&folder).named(Since::Always))
    })
}
