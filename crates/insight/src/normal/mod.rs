//! Baselines: how long requests and operations usually take at this hour of the week, as the weeks before showed it; and what requests cost
//! whatever the machine, to hold two builds against each other.
//!
//! Each minute goes into the figures of its hour, each hour into those of its hour of the week, where older weeks count less and less.
//! Checks read [`view::NormalView`]. Exports are [`Baseline`]s.

pub(crate) mod baseline;
pub(crate) mod cells;
mod compare;
mod keeping;
pub(crate) mod normals;
mod times;
pub(crate) mod view;
mod week;

pub use baseline::{Baseline, BaselineClass, Ratio};
pub use compare::{BaselineDifference, NotCompared, RatioPair};
