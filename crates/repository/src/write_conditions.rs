//! The conditions of a change on the present state of the file that it changes (RFC 9110, 13.1). They are decided from the rows that
//! the change expects when it is committed, so of two concurrent changes with one condition only one succeeds.

use telemetry::Millis;

/// The conditions of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteConditions {
    /// `If-Match`.
    pub matches: Option<EntityTags>,
    /// `If-None-Match`.
    pub none_match: Option<EntityTags>,
    /// `If-Unmodified-Since`. It does not count beside `If-Match`.
    pub unmodified_since: Option<Millis>,
}

/// The entity tags of a condition without their quotes, each with whether it is strong. `*` stands for any file.
pub type EntityTags = Vec<(String, bool)>;

/// The file that is there before a change.
#[derive(Debug, Clone)]
pub(crate) struct Present {
    /// Its entity tag, which is strong.
    pub(crate) tag: String,
    /// Its `Last-Modified`, if it has one.
    pub(crate) modified: Option<Millis>,
}

/// A condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{header}` does not hold: {}", self.state())]
pub struct FailedCondition {
    header: &'static str,
    path: String,
    /// The entity tag of the file, if there is one.
    tag: Option<String>,
}

impl FailedCondition {
    fn state(&self) -> String {
        match &self.tag {
            Some(tag) => format!("`{}` is there, with the entity tag \"{tag}\"", self.path),
            None => format!("there is no file `{}`", self.path),
        }
    }
}

/// Whether one of the tags is that of the file. A weak tag proves only the same meaning (RFC 9110, 8.8.3.2).
fn names(tags: &EntityTags, present: Option<&Present>, strong: bool) -> bool {
    let is_of = |present: &Present, (tag, is_strong): &(String, bool)| {
        tag == "*" || (*tag == present.tag && (*is_strong || !strong))
    };
    present.is_some_and(|present| tags.iter().any(|tag| is_of(present, tag)))
}

impl WriteConditions {
    /// Whether there is any.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses a change of `path` unless all conditions hold for the present file.
    pub(crate) fn check(&self, path: &str, present: Option<&Present>) -> Result<(), FailedCondition> {
        let header = match self {
            Self { matches: Some(tags), .. } if !names(tags, present, true) => "If-Match",
            // Without a date of the file the condition does not count (RFC 9110, 13.1.4).
            Self { matches: None, unmodified_since: Some(since), .. }
                if present.and_then(|present| present.modified).is_some_and(|at| at.0 / 1000 > since.0 / 1000) =>
            {
                "If-Unmodified-Since"
            }
            Self { none_match: Some(tags), .. } if names(tags, present, false) => "If-None-Match",
            _ => return Ok(()),
        };
        let tag = present.map(|present| present.tag.clone());
        Err(FailedCondition { header, path: path.to_owned(), tag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(tags: &[(&str, bool)]) -> Option<EntityTags> {
        Some(tags.iter().map(|(tag, strong)| ((*tag).to_owned(), *strong)).collect())
    }

    #[test]
    fn conditions_hold_as_the_standard_says_for_a_file_and_for_none() {
        let there = Present { tag: "a".into(), modified: Some(Millis(5_900)) };
        let none = WriteConditions::default;
        for (conditions, with_file, without) in [
            (none(), true, true),
            (WriteConditions { matches: tags(&[("*", true)]), ..none() }, true, false),
            (WriteConditions { matches: tags(&[("b", true), ("a", true)]), ..none() }, true, false),
            (WriteConditions { matches: tags(&[("a", false)]), ..none() }, false, false),
            (WriteConditions { matches: tags(&[]), ..none() }, false, false),
            (WriteConditions { none_match: tags(&[("*", true)]), ..none() }, false, true),
            (WriteConditions { none_match: tags(&[("a", false)]), ..none() }, false, true),
            (WriteConditions { none_match: tags(&[("b", true)]), ..none() }, true, true),
            (WriteConditions { unmodified_since: Some(Millis(5_000)), ..none() }, true, true),
            (WriteConditions { unmodified_since: Some(Millis(4_999)), ..none() }, false, true),
            (
                WriteConditions { matches: tags(&[("*", true)]), unmodified_since: Some(Millis(0)), ..none() },
                true,
                false,
            ),
        ] {
            let holds = [Some(&there), None].map(|present| conditions.check("lamp", present).is_ok());
            assert_eq!(holds, [with_file, without], "{conditions:?}");
        }
    }
}
