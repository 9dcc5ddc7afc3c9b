//! The rules of a shared cache (RFC 9111, 5861, 9213), without a clock and without I/O: time is an argument.

pub(crate) mod age;
pub(crate) mod asked;
pub(crate) mod dates;
pub(crate) mod dictionary;
pub(crate) mod directives;
pub(crate) mod fields;
pub(crate) mod freshness;
pub(crate) mod invalidation;
pub(crate) mod policy;
pub(crate) mod preset;
pub(crate) mod storable;
pub(crate) mod tags;
pub(crate) mod update;
pub(crate) mod usable;
pub(crate) mod validation;
pub(crate) mod vary;
