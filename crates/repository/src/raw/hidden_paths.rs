//! Upstream paths that a policy hides regardless of their age.

use crate::policy::hidden::Hidden;
use crate::policy::package_version::Since;
use crate::policy::rules::Rules;
use crate::raw::layout::RawPath;
use format::tree;

/// Why `file` is hidden regardless of its age.
pub(crate) fn hidden(file: RawPath<'_>, rules: &Rules) -> Option<Hidden> {
    let file = file.without_query();
    if tree::is_ambiguous(file.0) {
        return rules.cannot_classify(file.0);
    }
    rules.forbids(&file.named(Since::Always).upstream()).or_else(|| {
        // A listing reveals everything in its folder.
        let folder = format!("{}/", file.0);
        rules.denies(&RawPath(&folder).named(Since::Always))
    })
}
