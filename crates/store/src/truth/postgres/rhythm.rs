//! How often nodes beat, and how long a beat counts.

use std::time::Duration;

/// How often a node beats that has nothing to tell.
pub(super) const BEAT: Duration = Duration::from_millis(250);
/// How long a node trusts its copy after it sent a beat.
pub(super) const TRUST: Duration = Duration::from_secs(1);
/// How long others wait for it: some more, as no two clocks run alike.
pub(super) const WAIT: Duration = Duration::from_millis(1050);
/// How long a node that lives may take to notice that its connection is dead, and to make another one.
pub(super) const CONNECT: Duration = Duration::from_secs(8);
/// After this long without a beat a node is gone, and others do its work.
pub(super) const GONE: Duration = Duration::from_secs(3);
