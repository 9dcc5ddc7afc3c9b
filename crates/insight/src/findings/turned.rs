//! What a change turns: a setting, or a part of a repository's record. Its value is read from what the program tells.

use crate::signals::Facts;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a change turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Turned {
    /// The setting with this key.
    Setting(String),
    /// The members of a group, in order.
    Members(String),
    /// The names for which alone a repository may be asked.
    Names(String),
    /// The prefixes for which a repository calls no upstream.
    Private(String),
    /// How long negative answers of a remote repository are cached.
    Negative(String),
}

impl Turned {
    /// Its name, for people.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Setting(key) => key.clone(),
            Self::Members(of) => format!("members of {of}"),
            Self::Names(of) => format!("names of {of}"),
            Self::Private(of) => format!("private prefixes of {of}"),
            Self::Negative(of) => format!("negative answers of {of}"),
        }
    }

    /// Its present value. `None`: the program has not told it, or it is gone.
    pub(crate) fn value(&self, facts: &Facts) -> Option<Value> {
        match self {
            Self::Setting(key) => {
                let setting = facts.setting(key)?;
                Some(setting.number.map_or_else(|| Value::from(&*setting.value), Value::from))
            }
            Self::Members(of) => Some(json!(facts.repository(of)?.members)),
            Self::Names(of) => Some(json!(facts.repository(of)?.only)),
            Self::Private(of) => Some(json!(facts.repository(of)?.private_prefixes)),
            Self::Negative(of) => Some(json!(facts.repository(of)?.missing_s)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::facts::{RepositoryFact, SettingFact};

    #[test]
    fn each_part_has_a_name_and_a_value_once_the_program_has_told_it() {
        let all = [
            (Turned::Setting("store.readers".to_owned()), "store.readers", json!(4)),
            (Turned::Setting("telemetry.access_log".to_owned()), "telemetry.access_log", json!("off")),
            (Turned::Members("all".to_owned()), "members of all", json!(["ours", "central"])),
            (Turned::Names("all".to_owned()), "names of all", json!(["com.acme*"])),
            (Turned::Private("all".to_owned()), "private prefixes of all", json!([])),
            (Turned::Negative("all".to_owned()), "negative answers of all", json!(null)),
        ];
        let setting = |key: &str, value: &str, number| SettingFact {
            key: key.to_owned(),
            value: value.to_owned(),
            number,
            ..SettingFact::default()
        };
        let facts = Facts {
            settings: vec![setting("store.readers", "4", Some(4)), setting("telemetry.access_log", "off", None)],
            repositories: vec![RepositoryFact {
                name: "all".to_owned(),
                members: vec!["ours".to_owned(), "central".to_owned()],
                only: vec!["com.acme*".to_owned()],
                ..RepositoryFact::default()
            }],
            ..Facts::default()
        };
        for (turned, name, value) in all {
            assert_eq!((turned.name(), turned.value(&facts)), (name.to_owned(), Some(value)));
            assert_eq!(turned.value(&Facts::default()), None, "nothing was told yet");
        }
    }
}
