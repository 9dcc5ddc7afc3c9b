//! Splits full names: `a-1.0-x86-linux` may be version 1.0 of `a`, or another split.

use super::Platform;

/// One way to split a full name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The gem's name.
    pub name: &'a str,
    /// Its version.
    pub number: &'a str,
    /// The platform; `None` for `ruby`.
    pub platform: Option<&'a str>,
}

/// The most splits that are tried. Few gems have a name with a part that looks like a version.
pub const READINGS: usize = 3;

/// All ways to split a full name. A version follows a dash, begins with a digit and contains no dash.
pub fn readings(full_name: &str) -> impl Iterator<Item = Reading<'_>> {
    full_name.match_indices('-').filter_map(|(dash, _)| {
        let (name, rest) = (&full_name[..dash], &full_name[dash + 1..]);
        let (number, platform) =
            rest.split_once('-').map_or((rest, None), |(number, platform)| (number, Some(platform)));
        let begins = number.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        (begins && !name.is_empty() && platform != Some("")).then_some(Reading { name, number, platform })
    })
}

impl Reading<'_> {
    /// The prefix of the keys of this version's builds for platforms.
    pub fn prefix(&self) -> Option<String> {
        self.platform.map(|_| format!("{}-{}-", self.name, self.number))
    }

    /// Whether a client may use this name for a gem that was pushed for `platform`.
    pub fn is_of(&self, platform: &str) -> bool {
        self.platform.is_some_and(|asked| Platform::spellings(platform).iter().any(|spelling| spelling == asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(full_name: &str) -> Vec<(&str, &str, Option<&str>)> {
        readings(full_name).map(|reading| (reading.name, reading.number, reading.platform)).collect()
    }

    #[test]
    fn a_full_name_is_read_in_every_way_it_can_be_meant() {
        assert_eq!(all("rack-3.0"), [("rack", "3.0", None)]);
        assert_eq!(all("net-http-1.0-x86_64-linux"), [("net-http", "1.0", Some("x86_64-linux"))]);
        assert_eq!(all("a-1.0-2"), [("a", "1.0", Some("2")), ("a-1.0", "2", None)]);
        for nothing in ["rack", "", "-1.0", "rack-", "rack-a", "a-1-"] {
            assert_eq!(all(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn a_reading_is_of_what_was_pushed_for_a_platform_that_clients_call_so() {
        let reading = readings("a-1.0-x86_64-linux").next().unwrap();
        assert_eq!(reading.prefix().as_deref(), Some("a-1.0-"));
        assert!(reading.is_of("x86_64-linux-gnu"));
        assert!(!reading.is_of("x86_64-linux-musl") && !reading.is_of("ruby"));
        assert_eq!(readings("a-1.0").next().unwrap().prefix(), None);
    }
}
