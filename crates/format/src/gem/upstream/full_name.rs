//! Finds the gems that the name of a `.gem` file may mean, among those in an index.

use super::versions::Versions;
use crate::gem::spelling::readings;

/// A listed version that a file name may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The name of the gem.
    pub name: String,
    /// The version with its platform or content address, as the index lists it.
    pub token: String,
}

/// The listed versions that a full name, `NAME-VERSION[-PLATFORM]` or `NAME-VERSION-ADDRESS`, may mean: first those
/// with this spelling, then those for a platform that clients spell this way. There is more than one only if a gem has
/// a name like another gem's version.
pub fn candidates(index: &Versions, full_name: &str) -> Vec<Candidate> {
    candidates_by(index, full_name, usize::MAX)
}

/// The same for the index when its text ended at `end`.
pub fn candidates_by(index: &Versions, full_name: &str, end: usize) -> Vec<Candidate> {
    let (mut exact, mut spelled) = (Vec::new(), Vec::new());
    for reading in readings(full_name) {
        let Some(said) = index.said_by(reading.name, end) else { continue };
        let asked = &full_name[reading.name.len() + 1..];
        for token in said.tokens {
            let candidate = || Candidate { name: reading.name.to_owned(), token: token.clone() };
            if token == asked {
                exact.push(candidate());
            } else if content_address(&token).is_none()
                && token
                    .split_once('-')
                    .is_some_and(|(number, platform)| number == reading.number && reading.is_of(platform))
            {
                spelled.push(candidate());
            }
        }
    }
    exact.append(&mut spelled);
    exact
}

/// The content address in a token, 8 to 64 hexadecimal digits in lower case: `78be552b` of `1.18.9-78be552b`. It is the
/// beginning of the SHA-256 of a package for one version of Ruby (RubyGems 4.1), not a platform.
pub fn content_address(token: &str) -> Option<&str> {
    let address = token.split_once('-')?.1;
    let hex = address.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (hex && (8..=64).contains(&address.len())).then_some(address)
}
