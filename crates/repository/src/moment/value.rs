//! Moments in values of the API.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use telemetry::Millis;

/// A moment in a value of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(transparent, inline, extend("format" = "date-time"))]
pub struct Moment(#[schemars(with = "String")] pub Millis);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// Serializes a moment like [`Moment`].
pub(crate) fn shown<S: Serializer>(at: &Millis, to: S) -> Result<S::Ok, S::Error> {
    Moment(*at).serialize(to)
}

/// Serializes a moment or null.
pub(crate) fn some<S: Serializer>(at: &Option<Millis>, to: S) -> Result<S::Ok, S::Error> {
    at.map(Moment).serialize(to)
}

/// Serializes a moment, which is null if it is the beginning of time.
pub(crate) fn known<S: Serializer>(at: &Millis, to: S) -> Result<S::Ok, S::Error> {
    Some(*at).filter(|at| at.0 > 0).map(Moment).serialize(to)
}
