//! The RubyGems format: its questions, its indexes, publishing and withdrawing versions.

pub(crate) mod account;
pub(crate) mod answer;
pub(crate) mod answer_once;
pub(crate) mod compact;
pub(crate) mod dependencies;
pub(crate) mod describe;
pub(crate) mod download;
pub(crate) mod found;
pub(crate) mod from_rows;
pub(crate) mod hosted;
pub(crate) mod indexes;
pub(crate) mod info;
pub(crate) mod info_lines;
pub(crate) mod names;
pub(crate) mod owners;
pub(crate) mod ownership;
pub(crate) mod package_version;
pub(crate) mod parameters;
pub(crate) mod program;
pub(crate) mod protocol;
pub(crate) mod push;
pub(crate) mod push_cache;
pub(crate) mod question;
pub(crate) mod reformat;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod spec_parts;
pub(crate) mod specs;
pub(crate) mod versions;
pub(crate) mod views;
pub(crate) mod yank;

pub use found::Found;
pub use question::Question;
