//! The truth in memory, in the simplest code: the model that SQLite and other crates' property tests are compared with.

mod blob_uses;
mod entries;
mod expectations;
mod history;
mod settings;
mod state;
mod transactions;
mod units;

pub use state::Model;
