//! A moment on a page and in the API.

use schemars::JsonSchema;
use serde::Serialize;

/// A moment in UTC, in the form of RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("format" = "date-time"))]
pub struct Moment(pub String);

impl Moment {
    /// The moment as people read it: `2026-11-01 12:00 UTC`.
    pub fn short(&self) -> String {
        match (self.0.get(..10), self.0.get(10..11), self.0.get(11..16)) {
            (Some(day), Some("T"), Some(time)) if self.0.ends_with('Z') => format!("{day} {time} UTC"),
            _ => self.0.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_to_the_minute() {
        let short = |text: &str| Moment(text.into()).short();
        assert_eq!(short("2026-11-01T12:00:59.123Z"), "2026-11-01 12:00 UTC");
        for odd in [
            "",
            "2026",
            "tomorrow morning at noon",
            "2026-11-01T12:00:00+02:00",
            "\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}\u{fc}",
        ] {
            assert_eq!(short(odd), odd);
        }
    }
}
