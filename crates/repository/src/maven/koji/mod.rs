//! A remote Maven repository whose content is the builds that a Koji hub has in some tags. It knows all their files, so
//! it asks the hub nothing while a build runs.
//!
//! In reading order: [`hub`] asks questions; [`look`] decides which ones, and turns the answers into [`change`]s;
//! [`rows`] writes these to the journal; [`map`] keeps them in memory and finds the build of a path; [`state`] is all of
//! this for one repository; [`answer`] answers requests.

#![allow(dead_code)]

pub(crate) mod answer;
pub(crate) mod change;
pub(crate) mod hub;
pub(crate) mod look;
pub(crate) mod map;
pub(crate) mod rows;
pub(crate) mod state;
