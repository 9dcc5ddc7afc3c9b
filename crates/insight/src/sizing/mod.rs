//! How many of everything the traffic needs: pools, limits, caches and machines, today and with a multiple of the traffic.
//!
//! The thread of findings samples what was wanted of each pool second by second ([`loads`]), and keeps the busiest minute of each hour. The exact
//! counts of requests say which minute of the period was the busiest ([`period`]), and a model of queues how many places leave nearly no wait
//! ([`staffing`]); [`minute`] tells it apart where the pool itself was too narrow to show the load. Where data are missing, the answer says so.

mod answer;
mod caches;
pub(crate) mod loads;
mod machine;
pub(crate) mod minute;
mod period;
mod places;
mod row;
#[cfg(test)]
mod simulation;
pub(crate) mod staffing;
pub(crate) mod surroundings;

pub use answer::{Sizing, SizingAdvice};
pub use period::SizingAsked;
pub use row::{SizingRow, SizingVerdict};
