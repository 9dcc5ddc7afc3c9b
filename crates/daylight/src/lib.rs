//! Daylight: a package repository server you can see through.

pub mod access;
mod accounts;
mod admin;
mod answer;
pub mod app;
mod certificate;
pub mod class;
pub mod cli;
pub mod config;
pub mod conformance;
mod declared_repositories;
mod descriptors;
mod digests;
pub mod error;
mod first_start;
mod freshness;
mod growing;
mod handler;
mod handover;
pub mod init;
pub mod instance;
pub mod multipart;
pub mod recent_paths;
mod reply;
pub mod route;
pub mod serve;
pub mod settings_patch;
mod signals;
pub mod sinks;
mod status;
mod upkeep;
mod upload;
mod upstreams;

/// What the front page says.
const WELCOME: &str = include_str!("welcome.txt");
