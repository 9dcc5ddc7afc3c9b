//! Repositories: what they hold, what may be seen of it, and how it changes.
//!
//! A question ([`Ask`]) goes in, what was found ([`Found`]) or why not ([`Error`]) comes out. Formats are asked for
//! bytes and facts, the store for rows and blobs; HTTP is unknown here.

mod as_of;
mod bad_setting;
mod content;
mod context;
mod error;
mod format;
mod gem;
mod group;
mod index;
mod maven;
mod name;
mod policy;
mod question;
mod references;
mod repositories;
mod repository;
mod settings;
mod tree;
mod upstream;
mod visible;
mod waiters;
mod workers;

pub use crate::as_of::{AsOf, Past};
pub use crate::bad_setting::BadSetting;
pub use crate::content::{Content, Freshness, Growing, Grown, How, Source};
pub use crate::error::{Error, store_reason};
pub use crate::format::Format;
pub use crate::gem::program::{Describe, OwnerChange, Role, What};
pub use crate::gem::protocol::Protocol;
pub use crate::gem::shared::Shared;
pub use crate::gem::specs::Packed;
pub use crate::index::rope::PIECE;
pub use crate::maven::version_policy::VersionPolicy;
pub use crate::name::{BadName, RepositoryName};
pub use crate::policy::hidden::{Hidden, Why};
pub use crate::policy::named::{Named, Since};
pub use crate::policy::rules::Rules;
pub use crate::question::{Actor, Ask, Found, Index, Question};
pub use crate::references::References;
pub use crate::repositories::contents::{ListedFile, Page, PageRequest};
pub use crate::repositories::foresee::Foreseen;
pub use crate::repositories::former::{Cached, FormerFiles};
pub use crate::repositories::removal::RemovedRepository;
pub use crate::repositories::{MemoryLimits, Repositories};
pub use crate::repository::{Repository, RepositoryTable};
pub use crate::tree::restore::UNDO_DAYS;
pub use crate::upstream::checksum_policy::ChecksumPolicy;
pub use crate::upstream::failure::Failure;
pub use crate::visible::{Row, View, Visible, hidden, shown, turns, visible};
pub use crate::waiters::{ClassPlace, Place, Waiters, WaitersLimits};
pub use crate::workers::Workers;
