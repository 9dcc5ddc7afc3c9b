//! Daylight: a package repository server that can show why it gave each answer.

pub mod access;
mod accounts;
mod admin;
mod answer;
pub mod app;
mod cache_headers;
mod certificate;
mod changed_settings;
mod checksum_headers;
pub mod class;
pub mod cli;
pub mod config;
pub mod conformance;
mod declared_repositories;
mod descriptors;
mod duration;
pub mod error;
mod first_start;
mod growing_body;
mod handler;
mod handover;
pub mod hooks;
pub mod init;
pub mod instance;
mod ivy;
mod last_uses;
mod maintenance;
mod metrics;
pub mod multipart;
mod origin_headers;
pub mod public_url;
pub mod recent_paths;
mod reply;
pub mod route;
pub mod serve;
pub mod settings_patch;
mod signals;
pub mod sinks;
mod status;
mod supervisor;
mod upload;
mod upstreams;
mod use_recording;

/// The text of the front page.
const WELCOME: &str = include_str!("welcome.txt");
