//! Reads platforms as RubyGems does (`Gem::Platform`): a processor, a system and its version.
//!
//! A gem keeps the spelling of its pushed platform, also in the name of its file. Clients also request the name that
//! they derive from the platform, and versions of RubyGems derive different names.

use std::fmt;

/// A parsed platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// The processor, if the name has one.
    pub cpu: Option<String>,
    /// The system.
    pub os: String,
    /// Its version; for Linux the C library.
    pub version: Option<String>,
}

/// The position of the system's name in a platform's name.
#[derive(Debug, Clone, Copy)]
enum Stands {
    Anywhere,
    First,
}

/// The forms of a version after the system's name, with or without a dash.
#[derive(Debug, Clone, Copy)]
enum Follows {
    Nothing,
    /// `9`
    Digits,
    /// `2.8`, and no number without a dot.
    Pair,
    /// `1.8.0`
    Dotted,
    /// `musl`
    Word,
}

/// Systems, in the order in which they are matched.
const SYSTEMS: &[(&str, Stands, Follows)] = &[
    ("aix", Stands::Anywhere, Follows::Digits),
    ("cygwin", Stands::Anywhere, Follows::Nothing),
    ("darwin", Stands::Anywhere, Follows::Digits),
    ("macruby", Stands::First, Follows::Dotted),
    ("freebsd", Stands::Anywhere, Follows::Digits),
    ("hpux", Stands::Anywhere, Follows::Digits),
    ("java", Stands::First, Follows::Dotted),
    ("dalvik", Stands::First, Follows::Digits),
    ("dotnet", Stands::First, Follows::Dotted),
    ("linux", Stands::Anywhere, Follows::Word),
    ("mingw32", Stands::Anywhere, Follows::Nothing),
    ("mingw", Stands::Anywhere, Follows::Word),
    ("netbsdelf", Stands::Anywhere, Follows::Nothing),
    ("openbsd", Stands::Anywhere, Follows::Pair),
    ("bitrig", Stands::Anywhere, Follows::Pair),
    ("solaris", Stands::Anywhere, Follows::Pair),
    ("wasi", Stands::Anywhere, Follows::Nothing),
];

impl Platform {
    /// Reads the name of a platform as RubyGems 3.4 and later do; `None` for `ruby`, which is not a platform.
    pub fn read(name: &str) -> Option<Self> {
        if matches!(name, "" | "ruby") {
            return None;
        }
        let (cpu, os) = match name.trim_end_matches('-').split_once('-') {
            Some((cpu, os)) => (Some(cpu), os),
            None => (None, name.trim_end_matches('-')),
        };
        let cpu = cpu.map(|cpu| if intel(cpu) { "x86" } else { cpu }.to_owned());
        let (os, version) = system(os);
        let cpu = cpu.or_else(|| (os.starts_with("mswin") && os.ends_with("32")).then(|| "x86".to_owned()));
        Some(Self { cpu, os, version })
    }

    /// The other names under which clients may request a gem that was pushed for the platform `name`: today's name, and
    /// that of RubyGems before 3.4, which parsed Linux with the GNU library as plain Linux.
    pub fn spellings(name: &str) -> Vec<String> {
        let Some(platform) = Self::read(name) else { return Vec::new() };
        let gnu = platform.os == "linux" && platform.version.as_deref().is_some_and(|word| word.starts_with("gnu"));
        let mut spellings = vec![platform.to_string()];
        if gnu {
            spellings.push(Self { version: None, ..platform }.to_string());
        }
        spellings.retain(|spelling| spelling != name);
        spellings
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> =
            [self.cpu.as_deref(), Some(&self.os), self.version.as_deref()].into_iter().flatten().collect();
        f.write_str(&parts.join("-"))
    }
}

/// `i386` to `i986`, anywhere in the name.
fn intel(cpu: &str) -> bool {
    cpu.as_bytes().windows(4).any(|four| matches!(four, [b'i', digit, b'8', b'6'] if digit.is_ascii_digit()))
}

/// The system with that name, and its version.
fn system(name: &str) -> (String, Option<String>) {
    let known = |(os, stands, follows): &(&str, Stands, Follows)| {
        let rest = match stands {
            Stands::Anywhere => name.split_once(os).map(|(_, rest)| rest),
            Stands::First => name.strip_prefix(os),
        };
        rest.map(|rest| ((*os).to_owned(), version(rest, *follows)))
    };
    match name {
        "jruby" => ("java".to_owned(), None),
        _ => windows(name).or_else(|| SYSTEMS.iter().find_map(known)).unwrap_or_else(|| ("unknown".to_owned(), None)),
    }
}

fn version(rest: &str, follows: Follows) -> Option<String> {
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let length = match follows {
        Follows::Nothing => 0,
        Follows::Digits => digits(rest),
        Follows::Word => rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count(),
        Follows::Dotted => {
            let run = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
            rest[..run].trim_end_matches('.').len()
        }
        Follows::Pair => {
            let major = digits(rest);
            let minor = rest[major..].strip_prefix('.').map_or(0, digits);
            if major > 0 && minor > 0 { major + 1 + minor } else { 0 }
        }
    };
    (length > 0).then(|| rest[..length].to_owned())
}

/// `mswin32`, `mswin64_140`.
fn windows(name: &str) -> Option<(String, Option<String>)> {
    let (_, rest) = name.split_once("mswin")?;
    let (bits, rest) = rest.split_at(digits(rest));
    let version = rest.strip_prefix(['_', '-']).map(|rest| &rest[..digits(rest)]).filter(|rest| !rest.is_empty());
    (!bits.is_empty()).then(|| (format!("mswin{bits}"), version.map(str::to_owned)))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_platform_is_read_and_named_as_rubygems_does() {
        for (name, read) in [
            ("java", "java"),
            ("jruby", "java"),
            ("universal-java-1.8", "universal-java-1.8"),
            ("i686-linux", "x86-linux"),
            ("x86_64-linux-gnu", "x86_64-linux-gnu"),
            ("arm-linux-gnueabihf", "arm-linux-gnueabihf"),
            ("x86_64-linux-musl", "x86_64-linux-musl"),
            ("x64-mingw-ucrt", "x64-mingw-ucrt"),
            ("x64-mingw32", "x64-mingw32"),
            ("mswin32", "x86-mswin32"),
            ("x64-mswin64_140", "x64-mswin64-140"),
            ("x86_64-darwin19", "x86_64-darwin-19"),
            ("sparc-solaris2.8", "sparc-solaris-2.8"),
            ("x86-solaris10", "x86-solaris"),
            ("wasm32-wasi", "wasm32-wasi"),
            ("x-somewhere", "x-unknown"),
            ("somewhere", "unknown"),
        ] {
            assert_eq!(Platform::read(name).unwrap().to_string(), read, "{name}");
        }
        assert_eq!(Platform::read("ruby"), None);
        let parts = |name| Platform::read(name).map(|platform| (platform.cpu, platform.os, platform.version));
        assert_eq!(parts("java"), Some((None, "java".into(), None)));
        assert_eq!(parts("x64-mingw-ucrt"), Some((Some("x64".into()), "mingw".into(), Some("ucrt".into()))));
    }

    #[test]
    fn a_gem_is_asked_for_under_the_names_that_clients_make_of_its_platform() {
        assert_eq!(Platform::spellings("x86_64-linux-gnu"), ["x86_64-linux"]);
        assert_eq!(Platform::spellings("i686-linux-gnu"), ["x86-linux-gnu", "x86-linux"]);
        assert_eq!(Platform::spellings("x86_64-linux-musl"), [""; 0]);
        assert_eq!(Platform::spellings("x86_64-darwin19"), ["x86_64-darwin-19"]);
        assert_eq!(Platform::spellings("ruby"), [""; 0]);
    }

    proptest! {
        #[test]
        fn what_is_read_from_its_own_name_is_the_same(name in "[a-z0-9_]{1,6}-(linux|darwin|mingw|java|mswin)(-?[a-z0-9.]{0,5})") {
            if let Some(platform) = Platform::read(&name) {
                prop_assert_eq!(Platform::read(&platform.to_string()), Some(platform));
            }
        }

        #[test]
        fn no_name_makes_it_panic(name in any::<String>()) {
            Platform::spellings(&name);
        }
    }
}
