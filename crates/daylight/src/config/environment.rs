//! The environment, read once. Nothing else in Daylight looks at it.

use super::error::Error;
use super::given::nearest;
use super::keys::KEYS;
use super::references::References;
use client::Secret;
use std::collections::BTreeMap;
use std::fmt;

/// Variables that are no keys of the configuration.
const OTHERS: [&str; 5] = [ADMIN_TOKEN, CONFORMANCE_KEY, TOKEN, SERVER, CONFIG];
/// What systemd sets: for whom it passes sockets, and how many.
const PASSED: [&str; 2] = [PASSED_TO, PASSED_COUNT];
const PASSED_TO: &str = "LISTEN_PID";
const PASSED_COUNT: &str = "LISTEN_FDS";
const ADMIN_TOKEN: &str = "DAYLIGHT_ADMIN_TOKEN";
const CONFORMANCE_KEY: &str = "DAYLIGHT_CONFORMANCE_KEY";
const TOKEN: &str = "DAYLIGHT_TOKEN";
const SERVER: &str = "DAYLIGHT_SERVER";
const CONFIG: &str = "DAYLIGHT_CONFIG";

/// Every variable that is not empty. Prints names only, and of ours and systemd's alone, as values may be secrets.
#[derive(Clone, Default)]
pub struct Environment {
    /// Those that begin with `DAYLIGHT_`, and those of systemd.
    variables: BTreeMap<String, String>,
    /// The others, for settings that refer to them.
    references: References,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables.keys()).finish()
    }
}

impl Environment {
    /// This process's.
    pub fn here() -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        Self::from_iter(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
    }

    /// The variable's value. An empty one counts as not set: that is what `NAME=` in a compose file means.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    fn secret(&self, name: &str) -> Option<Secret> {
        self.get(name).map(|text| Secret::new(text.to_owned()))
    }

    /// `DAYLIGHT_ADMIN_TOKEN`.
    pub(super) fn admin_token(&self) -> Option<Secret> {
        self.secret(ADMIN_TOKEN)
    }

    /// `DAYLIGHT_CONFORMANCE_KEY`.
    pub(super) fn conformance_key(&self) -> Option<Secret> {
        self.secret(CONFORMANCE_KEY)
    }

    /// What the settings of repositories may refer to.
    pub(super) fn references(&self) -> References {
        self.references.clone()
    }

    /// `DAYLIGHT_TOKEN`: what the commands that talk to a server present.
    pub fn token(&self) -> Option<Secret> {
        self.secret(TOKEN)
    }

    /// `DAYLIGHT_SERVER`: the server they talk to.
    pub fn server(&self) -> Option<&str> {
        self.get(SERVER)
    }

    /// `DAYLIGHT_CONFIG`: the configuration file.
    pub fn config(&self) -> Option<&str> {
        self.get(CONFIG)
    }

    /// How many sockets were passed to process `id` (sd_listen_fds(3)).
    pub fn passed_sockets(&self, id: u32) -> u32 {
        let number = |name| self.get(name).and_then(|text| text.parse::<u32>().ok());
        if number(PASSED_TO) == Some(id) { number(PASSED_COUNT).unwrap_or(0) } else { 0 }
    }

    /// A variable with a section's prefix must be a key. Others may be anybody's: a sentence for each that is only a
    /// slip away from one of ours, as a mistyped `DAYLIGHT_ADMIN_TOKEN` would otherwise be ignored in silence.
    pub(super) fn refuse_unknown(&self) -> Result<Vec<String>, Error> {
        let keys: Vec<String> = KEYS.iter().map(super::given::Declared::variable).collect();
        let known = || keys.iter().map(String::as_str).chain(OTHERS);
        let mut slips = Vec::new();
        let ours = self.variables.keys().filter(|name| !PASSED.contains(&name.as_str()));
        for name in ours.filter(|name| !known().any(|known| known == *name)) {
            if in_a_section(name) {
                let nearest = nearest(name, known());
                return Err(Error::Unknown { place: "environment".to_owned(), name: name.clone(), nearest });
            }
            if let Some(meant) = known().find(|known| strsim::damerau_levenshtein(name, known) <= 2) {
                slips.push(format!("the variable `{name}` means nothing: did you mean `{meant}`?"));
            }
        }
        Ok(slips)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        let ours = |name: &str| name.starts_with("DAYLIGHT_") || PASSED.contains(&name);
        let (variables, others) =
            variables.into_iter().filter(|(_, value)| !value.is_empty()).partition(|(name, _)| ours(name));
        Self { variables, references: References::new(others) }
    }
}

fn in_a_section(name: &str) -> bool {
    KEYS.iter().any(|key| {
        let prefix = format!("DAYLIGHT_{}_", key.section.to_uppercase());
        // Kubernetes sets `DAYLIGHT_SERVER_SERVICE_HOST` and `DAYLIGHT_SERVER_PORT_8080_TCP` in every pod beside a
        // service named `daylight-server`. Nobody meant those.
        name.strip_prefix(&prefix)
            .is_some_and(|rest| rest != "PORT" && !rest.starts_with("PORT_") && !rest.starts_with("SERVICE_"))
    })
}
