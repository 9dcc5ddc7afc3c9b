//! The environment of the process, read once. Nothing else in Daylight reads it.

use super::error::Error;
use super::key::KeySpec;
use super::references::References;
use super::renamed;
use super::spelling::nearest;
use client::Secret;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Our variables that are no keys of the configuration.
pub const OTHERS: [&str; 6] = [ADMIN_TOKEN, CONFORMANCE_KEY, TOKEN, SERVER, TRUST, CONFIG];
/// The variables of systemd: the process that passed sockets are for, their number and names; and how the process tells how it is.
const SYSTEMD: [&str; 6] = [PASSED_TO, PASSED_COUNT, PASSED_NAMES, NOTIFY_SOCKET, WATCHDOG, WATCHDOG_OF];
const PASSED_TO: &str = "LISTEN_PID";
const PASSED_COUNT: &str = "LISTEN_FDS";
const PASSED_NAMES: &str = "LISTEN_FDNAMES";
const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";
const WATCHDOG: &str = "WATCHDOG_USEC";
const WATCHDOG_OF: &str = "WATCHDOG_PID";
const ADMIN_TOKEN: &str = "DAYLIGHT_ADMIN_TOKEN";
const CONFORMANCE_KEY: &str = "DAYLIGHT_CONFORMANCE_KEY";
const TOKEN: &str = "DAYLIGHT_TOKEN";
const SERVER: &str = "DAYLIGHT_SERVER";
const TRUST: &str = "DAYLIGHT_TRUST";
const CONFIG: &str = "DAYLIGHT_CONFIG";

/// Every variable that is not empty. `Debug` prints the names of ours and systemd's only: values may be secrets.
#[derive(Clone, Default)]
pub struct Environment {
    /// The variables that begin with `DAYLIGHT_`, and those of systemd.
    variables: BTreeMap<String, String>,
    /// The other variables, for settings that refer to them.
    references: References,
    home: Option<PathBuf>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variables.keys()).finish()
    }
}

impl Environment {
    /// The environment of this process.
    pub fn here() -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        Self::from_iter(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
    }

    /// The value of a variable. An empty variable counts as not set, as `NAME=` in a compose file means.
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

    /// The variables that the settings of repositories may refer to.
    pub(super) fn references(&self) -> References {
        self.references.clone()
    }

    /// `DAYLIGHT_TOKEN`: the token of commands that call a server.
    pub fn token(&self) -> Option<Secret> {
        self.secret(TOKEN)
    }

    /// `HOME`: the home folder of the user.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// `DAYLIGHT_SERVER`: the server that they call.
    pub fn server(&self) -> Option<&str> {
        self.get(SERVER)
    }

    /// `DAYLIGHT_TRUST`: a PEM file with certificates of that server to trust.
    pub fn trust(&self) -> Option<&str> {
        self.get(TRUST)
    }

    /// `DAYLIGHT_CONFIG`: the configuration file.
    pub fn config(&self) -> Option<&str> {
        self.get(CONFIG)
    }

    /// The number of sockets that were passed to process `id`, and their names, as far as they have some (sd_listen_fds_with_names(3)).
    pub fn passed_sockets(&self, id: u32) -> (u32, Vec<String>) {
        let number = |name| self.get(name).and_then(|text| text.parse::<u32>().ok());
        if number(PASSED_TO) != Some(id) {
            return (0, Vec::new());
        }
        let names = self.get(PASSED_NAMES).into_iter().flat_map(|names| names.split(':'));
        (number(PASSED_COUNT).unwrap_or(0), names.map(str::to_owned).collect())
    }

    /// The socket of the service manager, to tell it how the process is (sd_notify(3)).
    pub fn notify_socket(&self) -> Option<&str> {
        self.get(NOTIFY_SOCKET)
    }

    /// How often process `id` must tell that it is alive (sd_watchdog_enabled(3)).
    pub fn watchdog(&self, id: u32) -> Option<Duration> {
        let number = |name| self.get(name).and_then(|text| text.parse::<u64>().ok());
        let ours = number(WATCHDOG_OF).is_none_or(|of| of == u64::from(id));
        number(WATCHDOG).filter(|micros| ours && *micros > 0).map(Duration::from_micros)
    }

    /// Refuses variables with the prefix of a section that are no keys. Other variables may belong to other programs; returns a warning
    /// for each that is a likely misspelling of ours, such as `DAYLIGHT_ADMIN_TOKN`, and for each with an old name.
    pub(super) fn refuse_unknown(&self, keys: &[KeySpec]) -> Result<Vec<String>, Error> {
        let variables: Vec<String> = keys.iter().map(KeySpec::variable).collect();
        let known = || variables.iter().map(String::as_str).chain(OTHERS);
        let mut warnings = Vec::new();
        let ours = self.variables.keys().filter(|name| !SYSTEMD.contains(&name.as_str()));
        for name in ours.filter(|name| !known().any(|known| known == *name)) {
            if let Some(key) = renamed::key_of_variable(keys, name) {
                warnings.push(renamed::warning("environment", name, &key.variable()));
                continue;
            }
            if in_a_section(name, keys) {
                let nearest = nearest(name, known());
                return Err(Error::Unknown { place: "environment".to_owned(), name: name.clone(), nearest });
            }
            if let Some(meant) = known().find(|known| strsim::damerau_levenshtein(name, known) <= 2) {
                warnings.push(format!("the environment variable `{name}` has no effect: did you mean `{meant}`?"));
            }
        }
        Ok(warnings)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        let ours = |name: &str| name.starts_with("DAYLIGHT_") || SYSTEMD.contains(&name);
        let (variables, others): (_, BTreeMap<_, _>) =
            variables.into_iter().filter(|(_, value)| !value.is_empty()).partition(|(name, _)| ours(name));
        let home = others.get("HOME").map(PathBuf::from);
        Self { variables, references: References::new(others), home }
    }
}

fn in_a_section(name: &str, keys: &[KeySpec]) -> bool {
    keys.iter().any(|key| {
        let prefix = format!("DAYLIGHT_{}_", key.section.to_uppercase());
        // Kubernetes sets `DAYLIGHT_SERVER_SERVICE_HOST` and `DAYLIGHT_SERVER_PORT_8080_TCP` in every pod beside a
        // service named `daylight-server`. They are not meant for us.
        name.strip_prefix(&prefix)
            .is_some_and(|rest| rest != "PORT" && !rest.starts_with("PORT_") && !rest.starts_with("SERVICE_"))
    })
}
