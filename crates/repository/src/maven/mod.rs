//! The Maven format: its layout, its metadata, the lists that follow from POMs, and the retention of snapshots.

pub(crate) mod cleanup;
pub(crate) mod client_settings;
pub(crate) mod face;
pub(crate) mod folder_versions;
pub(crate) mod group_document;
pub(crate) mod guard;
pub(crate) mod hidden_paths;
pub(crate) mod hinted;
pub(crate) mod known_names;
pub(crate) mod layout;
pub(crate) mod layout_policy;
pub(crate) mod listing;
pub(crate) mod listing_changes;
pub(crate) mod metadata;
pub(crate) mod name_pattern;
pub(crate) mod package_details;
pub(crate) mod package_list;
pub(crate) mod package_version;
pub(crate) mod packages;
pub(crate) mod publication;
pub(crate) mod retention;
pub(crate) mod rules;
pub(crate) mod tree_path;
pub(crate) mod uploaded_metadata;
pub(crate) mod upstream;
pub(crate) mod version_policy;
