//! Why a question cannot be read, with the place.

/// A question cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Mistake {
    /// The place: `character 12` of the text form, or a part of the JSON form, such as `where[0][2]`.
    pub place: String,
    /// The mistake.
    pub message: String,
    /// The remedy, where there is one.
    pub hint: Option<String>,
}

impl Mistake {
    pub(super) fn new(place: &Position, message: impl Into<String>) -> Self {
        Self { place: place.to_string(), message: message.into(), hint: None }
    }

    /// Adds the name that was probably meant, as the remedy.
    pub(super) fn meant(mut self, nearest: Option<&str>) -> Self {
        self.hint = nearest.map(|nearest| format!("did you mean `{nearest}`?")).or(self.hint);
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A place in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Position {
    /// The whole question.
    Whole,
    /// A character of a text, counted from 1. The text may be a part of the JSON form.
    Character(usize, Option<Box<str>>),
    /// The end of a text.
    End(Option<Box<str>>),
    /// A part of the JSON form.
    Part(Box<str>),
}

impl Position {
    /// The value of a key of the JSON form, or an item of a list of it.
    pub(super) fn part(path: &str) -> Self {
        Self::Part(path.into())
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Position::Whole => write!(f, "the question"),
            Position::Character(at, None) => write!(f, "character {at}"),
            Position::Character(at, Some(part)) => write!(f, "`{part}`, character {at}"),
            Position::End(None) => write!(f, "the end"),
            Position::End(Some(part)) => write!(f, "the end of `{part}`"),
            Position::Part(part) => write!(f, "`{part}`"),
        }
    }
}
