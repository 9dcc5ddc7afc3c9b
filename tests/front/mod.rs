//! `daylight front`: the front of applications that run already, with real application servers behind it, scripted backends for what must
//! not happen, and real clients.

mod broken_backends;
mod browser;
mod caching_suite;
mod commands;
mod crowds;
mod downloads;
mod gate;
mod handover;
mod lanes;
mod origin;
mod passing;
mod poisoning;
pub(crate) mod program;
mod purging;
mod rack;
mod slow_clients;
mod smuggling;
mod users;
