//! What the lines of an upstream's `/versions` come to: the versions of each gem, and the MD5 of its `/info`.

use std::collections::HashMap;
use telemetry::Millis;

/// What the lines come to.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    gems: HashMap<Box<str>, Listed>,
}

/// What the lines of one gem come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its versions in the order in which they were listed, as `/versions` writes them: `1.0`, `1.0-java`. Each with the moment at which
    /// it was first seen here.
    pub(crate) versions: Vec<ListedVersion>,
    /// The MD5 of its `/info`, hexadecimal.
    pub(crate) md5: String,
}

/// One version that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedVersion {
    pub(crate) token: Box<str>,
    pub(crate) since: Millis,
}

impl Listing {
    /// Adds lines that were first seen at `at`.
    pub(crate) fn add(&mut self, lines: &str, at: Millis) {
        for line in lines.lines() {
            let mut words = line.split(' ');
            let (Some(name), Some(tokens), Some(md5)) = (words.next(), words.next(), words.next()) else { continue };
            let gem = self.gems.entry(name.into()).or_default();
            md5.clone_into(&mut gem.md5);
            for token in tokens.split(',') {
                match token.strip_prefix('-') {
                    Some(gone) => gem.versions.retain(|version| *version.token != *gone),
                    None if gem.versions.iter().any(|version| *version.token == *token) => {}
                    None => gem.versions.push(ListedVersion { token: token.into(), since: at }),
                }
            }
        }
    }

    /// The lines that bring what is listed here to what `lines` come to.
    pub(crate) fn difference(&self, lines: &str) -> String {
        let mut new = Listing::default();
        new.add(lines, Millis(0));
        let mut names: Vec<_> = new.gems.keys().chain(self.gems.keys()).collect();
        names.sort();
        names.dedup();
        let (mut text, nothing) = (String::new(), Listed::default());
        for name in names {
            let (old, new) = (self.gems.get(name).unwrap_or(&nothing), new.gems.get(name).unwrap_or(&nothing));
            let has = |listed: &Listed, token: &str| listed.versions.iter().any(|version| &*version.token == token);
            let gone = old.versions.iter().filter(|version| !has(new, &version.token));
            let came = new.versions.iter().filter(|version| !has(old, &version.token));
            let mut tokens: Vec<String> = gone.map(|version| format!("-{}", version.token)).collect();
            tokens.extend(came.map(|version| version.token.to_string()));
            if tokens.is_empty() && old.md5 == new.md5 {
                continue;
            }
            if tokens.is_empty() {
                tokens.extend(new.versions.last().map(|version| version.token.to_string()));
            }
            let md5 = if new.md5.is_empty() { "6105347ebb9825ac754615ca55ff3b0c" } else { &new.md5 };
            if !tokens.is_empty() {
                text += &format!("{name} {} {md5}\n", tokens.join(","));
            }
        }
        text
    }

    /// What is listed of a gem; `None`: its name was never listed.
    pub(crate) fn gem(&self, name: &str) -> Option<Listed> {
        self.gems.get(name).cloned()
    }
}
