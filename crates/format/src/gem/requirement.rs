//! The versions that a gem requires of another gem, of Ruby or of RubyGems (`Gem::Requirement`).

use super::invalid::quoted;
use super::{Invalid, Version};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    Above,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `~>`: at least this version, and equal except for the last number.
    About,
}

impl Op {
    const ALL: [Op; 7] = [Op::Equal, Op::NotEqual, Op::Above, Op::Below, Op::AtLeast, Op::AtMost, Op::About];

    /// Its spelling in gemspecs.
    pub fn as_str(self) -> &'static str {
        match self {
            Op::Equal => "=",
            Op::NotEqual => "!=",
            Op::Above => ">",
            Op::Below => "<",
            Op::AtLeast => ">=",
            Op::AtMost => "<=",
            Op::About => "~>",
        }
    }

    /// Parses the output of [`Op::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.as_str() == text)
    }
}

/// Constraints that must all hold, in the order of the gemspec. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
pub struct Requirement(Vec<(Op, Version)>);

impl Default for Requirement {
    /// `>= 0`: any version.
    fn default() -> Self {
        Self(vec![(Op::AtLeast, Version::zero())])
    }
}

impl Requirement {
    /// These constraints; an empty list allows any version.
    pub fn new(constraints: Vec<(Op, Version)>) -> Self {
        if constraints.is_empty() { Self::default() } else { Self(constraints) }
    }

    /// Reads constraints between commas: `~> 2.0, >= 2.0.5`. One without an operator means `=`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text.split(',').map(constraint).collect::<Result<_, _>>().map(Self)
    }

    /// The constraints, in order.
    pub fn constraints(&self) -> &[(Op, Version)] {
        &self.0
    }

    /// Whether it is exactly `>= 0`, which the index leaves out for Ruby and RubyGems.
    pub fn is_any(&self) -> bool {
        matches!(self.0.as_slice(), [(Op::AtLeast, version)] if version.as_str() == "0")
    }

    /// The spelling in a line of the index: sorted as text, joined by `&`.
    pub fn indexed(&self) -> String {
        let mut constraints = self.texts();
        constraints.sort();
        constraints.join("&")
    }

    fn texts(&self) -> Vec<String> {
        self.0.iter().map(|(op, version)| format!("{} {version}", op.as_str())).collect()
    }
}

fn constraint(text: &str) -> Result<(Op, Version), Invalid> {
    let text = text.trim();
    let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let (op, version) = text.split_at(digits);
    let op = if op.is_empty() { Some(Op::Equal) } else { Op::parse(op.trim_end()) };
    match (op, Version::parse(version)) {
        (Some(op), Ok(version)) => Ok((op, version)),
        _ => Err(Invalid::BadRequirement(quoted(text))),
    }
}

impl fmt::Display for Requirement {
    /// In order, joined by `, `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().join(", "))
    }
}

impl From<Requirement> for Vec<String> {
    fn from(requirement: Requirement) -> Self {
        requirement.texts()
    }
}

impl TryFrom<Vec<String>> for Requirement {
    type Error = Invalid;

    fn try_from(texts: Vec<String>) -> Result<Self, Invalid> {
        texts.iter().map(|text| constraint(text)).collect::<Result<_, _>>().map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_read_and_rendered() {
        let requirement = Requirement::parse(">= 0.1.0, < 1.0.0").unwrap();
        assert_eq!(requirement.to_string(), ">= 0.1.0, < 1.0.0");
        assert_eq!(requirement.indexed(), "< 1.0.0&>= 0.1.0");
        assert_eq!(Requirement::parse("~>1.2").unwrap().to_string(), "~> 1.2");
        assert_eq!(Requirement::parse("1.2").unwrap().to_string(), "= 1.2");
        assert_eq!(Requirement::new(Vec::new()).to_string(), ">= 0");
        for op in Op::ALL {
            assert_eq!(Requirement::parse(&format!("{} 1.a", op.as_str())).unwrap().constraints()[0].0, op);
        }
    }

    #[test]
    fn only_exactly_at_least_zero_is_any() {
        assert!(Requirement::default().is_any());
        for other in ["> 0", ">= 0.0", ">= 0, < 2", "= 0"] {
            assert!(!Requirement::parse(other).unwrap().is_any(), "{other}");
        }
    }

    #[test]
    fn what_is_not_a_requirement_is_refused() {
        for bad in ["", ">=", "=> 1", "~ 1", ">= 1,", ">= 1\n2", "> a", ">= 1&< 2", "==1"] {
            assert!(Requirement::parse(bad).is_err(), "{bad:?}");
        }
        let said = Requirement::parse("=> 1").unwrap_err();
        assert_eq!(said.to_string(), "`=> 1` is not a valid requirement");
        assert!(said.hint().is_some());
    }

    #[test]
    fn a_requirement_survives_the_journal() {
        let requirement = Requirement::parse("~> 2.0, >= 2.0.5").unwrap();
        let text = serde_json::to_string(&requirement).unwrap();
        assert_eq!(text, r#"["~> 2.0",">= 2.0.5"]"#);
        assert_eq!(serde_json::from_str::<Requirement>(&text).unwrap(), requirement);
    }
}
