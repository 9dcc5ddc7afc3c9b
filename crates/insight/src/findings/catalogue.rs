//! The list of all checks.

use super::check::Check;
use super::{clients, groups, machine, upstreams, watch};

/// Every check.
pub(crate) fn checks() -> impl Iterator<Item = &'static Check> {
    [upstreams::ALL, groups::ALL, machine::ALL, clients::ALL, watch::ALL].into_iter().flatten().copied()
}
