//! Facts about files of upstreams (present or missing) and the cached files themselves: a second database, which may be deleted
//! at any time.
//!
//! It records facts about members, not answers of groups. Order, nesting and policy are applied when reading, so changing them
//! invalidates nothing here. It is not journaled and is synced lazily: a crash may lose the last facts, which are then requested
//! again.

mod arrivals;
mod cached_file;
mod changed_upstreams;
mod database;
mod eviction;
mod file_cache;
mod files;
mod former_upstreams;
mod holding;
mod keeping;
mod last_use;
mod last_verified;
mod late_digests;
mod marks;
mod origin;
mod pins;
mod presence;
mod presence_cache;
mod rows;
mod schema;
mod small;
mod weight;

pub(crate) use arrivals::{Arrival, Arrivals, Arrived, Queued};
pub(crate) use cached_file::{CacheInput, Lookup, Unverified, VERIFIED_FIRST_MAX};
pub use cached_file::{CachedFile, CachedPath, Held};
pub(crate) use changed_upstreams::ChangedUpstreams;
pub(crate) use database::{Cache, CacheBounds};
pub(crate) use file_cache::{FileCache, boot_id, has_digest};
pub(crate) use last_verified::LastVerified;
pub use late_digests::Undigested;
pub use origin::Origin;
pub use presence_cache::{FolderPresence, UpstreamPresence};
pub(crate) use presence_cache::{PresenceCache, split};
pub(crate) use small::{SMALL, read as read_small};
