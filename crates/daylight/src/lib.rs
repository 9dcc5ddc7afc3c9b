//! Daylight: a package repository server that can tell, for every request, why the client got this file, a 404 or a refusal.

pub mod access;
mod accounts;
mod admin;
mod answer;
pub mod app;
mod app_front;
pub mod class;
pub mod cli;
pub mod config;
pub mod conformance;
pub mod error;
mod face;
mod findings;
mod formats;
mod health;
pub mod hooks;
pub mod instance;
mod lookup;
mod reply;
pub mod route;
pub mod serve;
pub mod settings_patch;
mod site;
pub mod upload;
pub mod uses;
