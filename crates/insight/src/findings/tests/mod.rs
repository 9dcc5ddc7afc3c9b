//! Tests of all checks together: what they cost, and that they say nothing about a healthy server.

mod cost;
mod healthy;
mod server;
mod traffic;
