//! Questions about stored events.

mod question;

pub use question::{Compare, Filter, Is, Key, Measure, Order, Question, Value};
