//! Daylight: a package repository server you can see through.

pub mod cli;
pub mod config;
pub mod init;
pub mod serve;
