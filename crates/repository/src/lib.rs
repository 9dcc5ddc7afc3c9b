//! Repositories: what they hold, what may be seen of it, and how it changes.
//!
//! A question ([`Ask`]) goes in, what was found ([`Found`]) or why not ([`Error`]) comes out. Formats are asked for
//! bytes and facts, the store for rows and blobs; HTTP is unknown here.

mod ask;
mod bad_setting;
mod checksum_policy;
mod client_settings;
mod content;
mod describe;
mod error;
mod group;
mod hosted;
mod known;
mod name;
mod opened;
mod past;
mod policy;
mod protocol;
mod references;
mod remote;
mod repositories;
mod rope;
mod settings;
mod version_policy;
mod visible;
mod waiters;
mod work;

pub use ask::{Actor, Ask, Found, Index, Question};
pub use bad_setting::BadSetting;
pub use checksum_policy::ChecksumPolicy;
pub use content::{Content, Freshness, Growing, Grown, How, Source};
pub use describe::{Describe, OwnerChange, Role, What};
pub use error::{Error, store_reason};
pub use hosted::{Packed, Shared, UNDO_DAYS};
pub use known::{Format, Known, Repository};
pub use name::{BadName, RepositoryName};
pub use past::{AsOf, Past};
pub use policy::{Hidden, Named, Rules, Since, Why};
pub use protocol::Protocol;
pub use references::References;
pub use remote::Failure;
pub use repositories::{
    Cached, Foreseen, FormerFiles, Listed, ListedFile, Part, RemovedRepository, Repositories, Room,
};
pub use rope::PIECE;
pub use version_policy::VersionPolicy;
pub use visible::{Row, View, Visible, hidden, shown, turns, visible};
pub use waiters::{ClassPlace, Place, Waiters, WaitersLimits};
pub use work::Workers;
