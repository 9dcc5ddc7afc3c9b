//! Questions about stored events.

mod aggregates;
mod answer;
mod asked;
mod asker;
mod cells;
mod columns;
mod compare;
mod comparison;
pub(crate) mod counted;
mod differences;
mod distinct;
mod distribution;
#[cfg(test)]
mod docs;
mod draft;
mod figure;
mod figures;
mod groups;
mod hints;
mod holds;
mod json;
mod keys;
mod merged;
mod mistake;
mod names;
mod progress;
mod question;
mod run;
mod sampled;
mod selection;
mod series;
mod show;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod times;
mod tokens;
mod value;

pub use answer::{Answer, Cost, NotAnswered, Seen};
pub use asked::Asked;
pub use asker::{Asker, AskerOptions, Caller, Parts, RollupSource};
pub use compare::{Compared, Side, Step};
pub use figure::Figure;
pub use json::QUESTION_BYTES_MAX;
pub use merged::{Merged, NodeAnswer, NotMerged};
pub use mistake::Mistake;
pub use question::{Compare, Filter, Is, Key, Measure, Order, Question, Value};
pub use times::read_moment;
