//! Object storage (S3): keeps the bytes of blobs and a copy of the segments, where a server has one besides its disk. The folder of
//! blobs is then a bounded copy of it.
//!
//! - A blob becomes an object right before the transaction that names it (`store/objects.rs`), so a row never points at bytes that
//!   only this disk has. An object is written whole or not at all, with its checksum, and written again it is the same.
//! - The name of an object has the digest and the **generation** of the blob (`keys.rs`): the number of the last row which says that
//!   its bytes were deleted. That row comes first and the deletion of the object after it. So a deletion, however late, never meets
//!   bytes that were published again: those have the next generation. A transaction that names a blob expects the generation of its
//!   object.
//! - A blob that is not on the disk is fetched, verified and kept there (`blobs.rs`). Bytes with another digest are never served.
//! - A thread (`keeper.rs`) copies segments, copies blobs that object storage lacks (`round.rs`), and removes from the disk the blobs that were
//!   not used for longest, once object storage has them.

pub(crate) mod bell;
pub(crate) mod blobs;
pub(crate) mod calls;
pub(crate) mod fetch_segments;
pub(crate) mod keeper;
pub(crate) mod keys;
pub(crate) mod local_copies;
mod lost_rows;
pub(crate) mod memory;
pub(crate) mod parted;
pub(crate) mod place;
pub(crate) mod round;
pub(crate) mod segment_copies;
pub(crate) mod state;

use object_store::ObjectStore;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Object storage, and how it is used.
#[derive(Debug, Clone)]
pub struct Objects {
    /// The client. It bounds the time of each request and repeats failed ones for a while.
    pub store: Arc<dyn ObjectStore>,
    /// All keys are below it. It has no slash at either end and is not empty.
    pub prefix: String,
    /// Names the place for people: `s3://BUCKET/PREFIX`. It is also written into the data folder, and another place is refused.
    pub url: String,
    /// Its reactor owns the connections of the client. It must live until the store is closed.
    pub runtime: Handle,
    /// Bytes of blobs on the disk above which blobs that object storage has are removed there.
    pub local_max_bytes: u64,
    /// The longest time of one operation with all its repetitions. An operation on many bytes gets a second more for each MiB.
    pub patience: Duration,
}
