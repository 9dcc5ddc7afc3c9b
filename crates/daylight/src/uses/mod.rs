//! What clients used: when versions and files were last downloaded, and which paths were requested within the last day.

pub(crate) mod last_uses;
pub mod recent_paths;
pub(crate) mod recording;
