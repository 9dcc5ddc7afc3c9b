//! Questions about stored events.

mod draft;
mod holds;
mod json;
mod mistake;
mod names;
mod question;
mod show;
#[cfg(test)]
mod tests;
mod text;
mod times;
mod tokens;
mod value;

pub use json::QUESTION_BYTES_MAX;
pub use mistake::Mistake;
pub use question::{Compare, Filter, Is, Key, Measure, Order, Question, Value};
