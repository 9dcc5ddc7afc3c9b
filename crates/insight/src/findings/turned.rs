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

    /// Whether a change from a value to another one takes the advice of a third one, or a part of it that is known to save something. Numbers
    /// do: what another number saves is computed.
    pub(crate) fn follows(&self, from: &Value, advised: Option<&Value>, to: &Value) -> bool {
        let Some(advised) = advised else { return false };
        if to == advised || [from, advised, to].iter().all(|value| value.is_number()) {
            return true;
        }
        let [from, advised, to] = [from, advised, to].map(words);
        let lacks = |word: &&&str| !from.contains(*word);
        match self {
            // Without a value of its own, that of all is in force, which is the advised one.
            Self::Negative(_) => to.is_empty(),
            Self::Setting(_) => false,
            Self::Members(_) => {
                let out: Vec<_> = from.iter().filter(|name| !advised.contains(name)).collect();
                let last = advised.last().filter(|_| out.is_empty());
                let is_behind = |name: &&str| to.len() > 1 && to.last() == Some(name) || !to.contains(name);
                !to.is_empty() && out.iter().all(|name| !to.contains(name)) && last.is_none_or(is_behind)
            }
            Self::Names(_) => {
                let are_more = advised.iter().all(|pattern| to.contains(pattern));
                !to.is_empty() && (are_more || to.iter().all(|pattern| advised.contains(pattern)))
            }
            Self::Private(_) => advised.iter().filter(lacks).all(|prefix| to.contains(prefix)),
        }
    }
}

/// The words of a list. Another value has none.
fn words(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::facts::{RepositoryFact, SettingFact};

    #[test]
    fn a_change_follows_an_advice_if_it_has_the_step_that_saves() {
        let members = Turned::Members("all".to_owned());
        let order = |to: Value| members.follows(&json!(["slow", "a", "b"]), Some(&json!(["a", "b", "slow"])), &to);
        assert!(order(json!(["a", "b", "slow"])) && order(json!(["b", "a", "slow"])) && order(json!(["a", "b"])));
        assert!(!order(json!(["slow", "b", "a"])) && !order(json!(["a", "slow", "b"])), "it is before others");
        assert!(!order(json!(["slow", "a", "b", "c"])) && !order(json!(["slow"])) && !order(json!([])));
        let out = |to: Value| members.follows(&json!(["slow", "a"]), Some(&json!(["a"])), &to);
        assert!(out(json!(["a"])) && out(json!(["a", "c"])));
        assert!(!out(json!(["a", "slow"])) && !out(json!(["slow", "a", "c"])) && !out(json!([])));
        let names = Turned::Names("slow".to_owned());
        let only = |to: Value| names.follows(&json!([]), Some(&json!(["com.a*", "com.b*"])), &to);
        assert!(only(json!(["com.b*", "com.a*"])) && only(json!(["com.a*"])));
        assert!(only(json!(["com.a*", "com.b*", "com.c*"])) && !only(json!(["org.x*"])));
        let private = Turned::Private("all".to_owned());
        let kept = |to: Value| private.follows(&json!(["com.x"]), Some(&json!(["com.x", "org.a"])), &to);
        assert!(kept(json!(["org.a"])) && kept(json!(["org.a", "com.x", "org.b"])) && !kept(json!(["com.x", "org.b"])));
        let missing = Turned::Negative("slow".to_owned());
        let ttl = |to: Value| missing.follows(&json!(0), Some(&json!(300)), &to);
        assert!(ttl(json!(300)) && ttl(json!(20)) && ttl(json!(null)));
        let setting = Turned::Setting("telemetry.access_log".to_owned());
        let log = |to: Value| setting.follows(&json!("off"), Some(&json!("file")), &to);
        assert!(log(json!("file")) && !log(json!("other")));
        assert!(!setting.follows(&json!(2), None, &json!(3)), "nothing was advised");
    }

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
