//! The versions that a `Gemfile.lock` (`gems.locked`) names. Bundler 1.17 to 4.0 write one form of it: sections that begin at the margin;
//! in each section `GEM`, below `specs:`, a line of four spaces for each version, and lines of six spaces for what it needs.

use super::name;

/// The longest file, in bytes. A version takes some 30 bytes, and some 300 with its dependencies and a checksum.
pub const LONGEST: usize = 4 << 20;

/// The most versions that are read from one file.
pub const VERSIONS_MAX: usize = 10_000;

/// A version in a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locked<'a> {
    /// The name of the gem.
    pub name: &'a str,
    /// The number, with the platform behind it: `1.16.0-x86_64-linux`.
    pub version: &'a str,
}

/// The reason why a lock cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Bundler refuses such a file, too.
    #[error("it has unresolved merge conflicts")]
    Conflicts,
    /// It has no version below `GEM`.
    #[error("it names no version of a gem")]
    Empty,
    /// It has more than [`VERSIONS_MAX`].
    #[error("it names more than {VERSIONS_MAX} versions")]
    TooMany,
}

/// The versions of the sections `GEM`, each once, in the order of their names. Those of `PATH`, `GIT` and `PLUGIN SOURCE` come from no
/// repository.
pub fn versions(text: &str) -> Result<Vec<Locked<'_>>, Unusable> {
    let (mut found, mut in_gems) = (Vec::new(), false);
    for line in text.lines() {
        if ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark)) {
            return Err(Unusable::Conflicts);
        }
        if !line.is_empty() && !line.starts_with(' ') {
            in_gems = line == "GEM";
        } else if in_gems {
            found.extend(locked(line));
        }
    }
    found.sort_unstable();
    found.dedup();
    match found.len() {
        0 => Err(Unusable::Empty),
        1..=VERSIONS_MAX => Ok(found),
        _ => Err(Unusable::TooMany),
    }
}

/// `    rack (3.0.8)`.
fn locked(line: &str) -> Option<Locked<'_>> {
    let (name, version) = line.strip_prefix("    ")?.strip_suffix(')')?.split_once(" (")?;
    let plain = |text: &str| name::plain(text) && text.len() <= name::MAX && !text.starts_with('.');
    (plain(name) && plain(version)).then_some(Locked { name, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Bundler 2.6 writes it with `bundle lock --add-checksums`.
    const LOCK: &str = "PATH
  remote: lib
  specs:
    ours (1.0)
      rack

GEM
  remote: http://127.0.0.1:8080/repository/gems/
  specs:
    nokogiri (1.16.0-x86_64-linux)
      racc (~> 1.4)
    racc (1.7.3)
    rack (3.0.8)

GEM
  remote: https://gems.example/
  specs:
    rack (3.0.8)

PLATFORMS
  x86_64-linux

DEPENDENCIES
  ours!
  rack (= 3.0.8)

CHECKSUMS
  rack (3.0.8) sha256=0123

BUNDLED WITH
   2.6.2
";

    #[test]
    fn each_version_of_a_source_of_gems_is_read_once_and_nothing_else() {
        let wanted = [("nokogiri", "1.16.0-x86_64-linux"), ("racc", "1.7.3"), ("rack", "3.0.8")];
        let wanted = wanted.map(|(name, version)| Locked { name, version });
        assert_eq!(versions(LOCK).unwrap(), wanted);
        assert_eq!(versions(&LOCK.replace('\n', "\r\n")).unwrap(), wanted);
    }

    #[test]
    fn a_file_that_is_no_lock_is_refused_with_the_reason() {
        for text in
            ["", "source 'https://rubygems.org'\ngem 'rack'\n", "GEM\n  specs:\n    rack (3/0)\n    r\u{e9}ck (1)\n"]
        {
            assert_eq!(versions(text), Err(Unusable::Empty), "{text}");
        }
        assert_eq!(versions(&LOCK.replace("    racc (", "<<<<<<< HEAD\n    racc (")), Err(Unusable::Conflicts));
        let many = (0..=VERSIONS_MAX).map(|number| format!("    g (1.{number})\n")).collect::<String>();
        assert_eq!(versions(&format!("GEM\n  specs:\n{many}")), Err(Unusable::TooMany));
    }
}
