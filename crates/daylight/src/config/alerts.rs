//! `[[alerts.to]]` in the configuration file: who is told of findings as they open and close. They are read at the start, and no call of the API
//! changes them: a command runs as the user of the server.

use super::app_table::AppTable;
use super::error::Error;
use insight::FindingKind;
use std::collections::BTreeMap;
use std::time::Duration;
use telemetry::closed_list;
use toml::Spanned;
use toml::de::DeValue;

/// The section, which has such tables only.
pub(super) const NAME: &str = "alerts";
/// The name of such a table.
const TABLE: &str = "alerts.to";
/// The keys of `[[alerts.to]]`.
pub const KEYS: &[&str] = &[
    "alerts.to.name",
    "alerts.to.kind",
    "alerts.to.url",
    "alerts.to.key_env",
    "alerts.to.kinds",
    "alerts.to.resend_s",
    "alerts.to.command",
];
/// The most tables.
pub(crate) const MOST: usize = 16;
/// The longest name, in bytes: it is the name of a file, too.
const NAME_MAX: usize = 64;
/// PagerDuty's address for events, where no other is named.
const PAGERDUTY: &str = "https://events.pagerduty.com/v2/enqueue";
/// How often an Alertmanager is told again that an alert goes on, in seconds.
const RESEND_S: u64 = 60;
/// At most this long apart: an Alertmanager forgets an alert after five minutes (`resolve_timeout`), and one message may be lost.
const RESEND_MAX_S: u64 = 150;

closed_list! {
    /// The kind of a receiver.
    pub enum ReceiverKind {
        /// Prometheus Alertmanager.
        Alertmanager = "alertmanager",
        /// PagerDuty Events API v2.
        Pagerduty = "pagerduty",
        /// A URL that takes JSON with the headers of Standard Webhooks.
        Webhook = "webhook",
        /// A program of this machine.
        Command = "command",
    }
}

/// A receiver that the file declares.
#[derive(Debug, Clone)]
pub struct DeclaredReceiver {
    /// File and line, for messages.
    pub place: String,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ReceiverKind,
    /// Its URL; empty for a command.
    pub url: String,
    /// The variable of the environment that has its key.
    pub key_env: Option<String>,
    /// The kinds of findings that it is told of.
    pub kinds: Vec<FindingKind>,
    /// How often it is told again that an alert goes on. `None`: never.
    pub resend: Option<Duration>,
    /// A program and its arguments; empty for other kinds.
    pub command: Vec<String>,
    /// Its lines as the file has them, for `daylight config show`. The URL of a webhook may be a secret, so only its host is there.
    pub(crate) written: Vec<(&'static str, serde_json::Value)>,
}

/// Reads the section.
pub(super) fn read(
    section: &Spanned<DeValue<'_>>,
    at: usize,
    place: impl Fn(usize) -> String,
) -> Result<Vec<DeclaredReceiver>, Error> {
    let form =
        |at| Error::NotToml { place: place(at), message: "write `[[alerts.to]]`, once for each receiver".to_owned() };
    let DeValue::Table(section) = section.get_ref() else { return Err(form(at)) };
    let (mut declared, mut places) = (Vec::new(), BTreeMap::new());
    for (key, tables) in section {
        if key.get_ref() != "to" {
            let name = format!("{NAME}.{}", key.get_ref());
            return Err(Error::Unknown { place: place(key.span().start), name, nearest: Some("alerts.to".to_owned()) });
        }
        let DeValue::Array(tables) = tables.get_ref() else { return Err(form(key.span().start)) };
        if tables.len() > MOST {
            let message = format!("there are more than {MOST} receivers of alerts");
            return Err(Error::NotToml { place: place(key.span().start), message });
        }
        for table in tables {
            let DeValue::Table(body) = table.get_ref() else { return Err(form(table.span().start)) };
            let table = AppTable::new(TABLE, KEYS, body, table.span().start, &place)?;
            let one = one(&table)?;
            if let Some(before) = places.insert(one.name.clone(), one.place.clone()) {
                let text = format!("{}: the receiver `{}` is defined already, in {before}", one.place, one.name);
                return Err(Error::Contradiction { text, hint: "give each receiver a name of its own".to_owned() });
            }
            declared.push(one);
        }
    }
    Ok(declared)
}

fn one(table: &AppTable<'_>) -> Result<DeclaredReceiver, Error> {
    let refuse = |message: String, hint: &str| Error::Contradiction {
        text: format!("{}: {message}", table.place),
        hint: hint.to_owned(),
    };
    let missing = |key: &str, hint: &str| refuse(format!("a receiver of alerts needs `{key}`"), hint);
    let (name, named_at) = table.text("alerts.to.name")?.ok_or_else(|| {
        missing("name", "the name is in its events and metrics, and `daylight alerts test NAME` takes it")
    })?;
    if !is_name(&name) {
        let expects = format!("small letters, digits and hyphens, at most {NAME_MAX}");
        return Err(Error::Invalid { place: named_at, key: "alerts.to.name", expects, value: name });
    }
    let known = ReceiverKind::ALL.iter().map(|kind| format!("`{}`", kind.as_str())).collect::<Vec<_>>().join(", ");
    let (kind, kind_at) = table.text("alerts.to.kind")?.ok_or_else(|| missing("kind", &format!("one of {known}")))?;
    let Some(kind) = ReceiverKind::ALL.iter().copied().find(|known| known.as_str() == kind) else {
        let expects = format!("one of {known}");
        return Err(Error::Invalid { place: kind_at, key: "alerts.to.kind", expects, value: kind });
    };
    let kinds = kinds(table)?;
    let url = url(table, kind)?;
    let key_env = key_env(table, kind)?;
    let command: Vec<String> = table.texts("alerts.to.command")?.into_iter().map(|(text, _)| text).collect();
    match (kind, command.is_empty()) {
        (ReceiverKind::Command, true) => {
            return Err(missing("command", "for example `command = [\"/usr/local/bin/tell-us\", \"--urgent\"]`"));
        }
        (ReceiverKind::Command, false) | (_, true) => {}
        (_, false) => {
            return Err(refuse(
                format!("`command` is for receivers of the kind `command`, and this one is `{}`", kind.as_str()),
                "write `kind = \"command\"`, or leave `command` out",
            ));
        }
    }
    let resend = table.number("alerts.to.resend_s", 1, RESEND_MAX_S)?;
    if resend.is_some() && kind != ReceiverKind::Alertmanager {
        let text =
            format!("`resend_s` is for Alertmanager, and a receiver of the kind `{}` forgets nothing", kind.as_str());
        return Err(refuse(text, "leave it out"));
    }
    let resend = (kind == ReceiverKind::Alertmanager).then(|| Duration::from_secs(resend.unwrap_or(RESEND_S)));
    let declared = DeclaredReceiver {
        place: table.place.clone(),
        name,
        kind,
        url,
        key_env,
        kinds,
        resend,
        command,
        written: Vec::new(),
    };
    Ok(DeclaredReceiver { written: written(&declared), ..declared })
}

fn written(of: &DeclaredReceiver) -> Vec<(&'static str, serde_json::Value)> {
    let mut lines = vec![("name", of.name.clone().into()), ("kind", of.kind.as_str().into())];
    match of.kind {
        ReceiverKind::Command => lines.push(("command", of.command.clone().into())),
        ReceiverKind::Webhook => {
            let scheme = of.url.split_once("://").map_or("", |(scheme, _)| scheme);
            let host = client::host_of(&of.url).unwrap_or_default();
            lines.push(("url", format!("{scheme}://{host}/***").into()));
        }
        _ => lines.push(("url", of.url.clone().into())),
    }
    lines.extend(of.key_env.clone().map(|name| ("key_env", name.into())));
    lines.push(("kinds", of.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().into()));
    lines.extend(of.resend.map(|time| ("resend_s", time.as_secs().into())));
    lines
}

fn kinds(table: &AppTable<'_>) -> Result<Vec<FindingKind>, Error> {
    const KEY: &str = "alerts.to.kinds";
    let Some(place) = table.place_of_key(KEY) else { return Ok(FindingKind::ALL.to_vec()) };
    let expects = "a list of `cause`, `failure` and `impact`";
    let mut kinds = Vec::new();
    for (text, place) in table.texts(KEY)? {
        match FindingKind::ALL.iter().copied().find(|kind| kind.as_str() == text) {
            Some(kind) if kinds.contains(&kind) => {}
            Some(kind) => kinds.push(kind),
            None => return Err(Error::Invalid { place, key: KEY, expects: expects.to_owned(), value: text }),
        }
    }
    if kinds.is_empty() {
        let text = format!("{place}: `{KEY}` is empty, so the receiver would be told of nothing");
        return Err(Error::Contradiction { text, hint: "leave it out for all kinds".to_owned() });
    }
    Ok(kinds)
}

/// The URL that is called. That of an Alertmanager may be written with or without the path of its API.
fn url(table: &AppTable<'_>, kind: ReceiverKind) -> Result<String, Error> {
    const KEY: &str = "alerts.to.url";
    let refuse = |place: &str, what: &str, hint: &str| Error::Contradiction {
        text: format!("{place}: {what}"),
        hint: hint.to_owned(),
    };
    let (url, place) = match (table.text(KEY)?, kind) {
        (Some((_, place)), ReceiverKind::Command) => {
            return Err(refuse(&place, "a command has no `url`", "leave it out, or write `kind = \"webhook\"`"));
        }
        (None, ReceiverKind::Command) => return Ok(String::new()),
        (None, ReceiverKind::Pagerduty) => return Ok(PAGERDUTY.to_owned()),
        (None, _) => {
            let example = match kind {
                ReceiverKind::Alertmanager => "for example `url = \"http://127.0.0.1:9093\"`",
                _ => {
                    "the URL to which alerts are sent, for example `url = \"https://chat.example.org/hooks/daylight\"`"
                }
            };
            return Err(refuse(&table.place, "a receiver of alerts needs `url`", example));
        }
        (Some(url), _) => url,
    };
    // Such a URL is not printed.
    if url.contains('@') {
        let what = format!("`{KEY}` has credentials");
        return Err(refuse(&place, &what, "name the variable that has them: `key_env = \"NAME\"`"));
    }
    if client::host_of(&url).is_none() || url.contains('#') {
        return Err(refuse(
            &place,
            &format!("`{KEY}` is no URL that can be called"),
            "it begins with `http://` or `https://`",
        ));
    }
    if kind != ReceiverKind::Alertmanager {
        return Ok(url);
    }
    if url.contains('?') {
        return Err(refuse(
            &place,
            &format!("`{KEY}` of an Alertmanager has no query"),
            "for example `http://127.0.0.1:9093`",
        ));
    }
    let base = url.trim_end_matches('/');
    Ok(format!("{}/api/v2/alerts", base.strip_suffix("/api/v2/alerts").unwrap_or(base)))
}

fn key_env(table: &AppTable<'_>, kind: ReceiverKind) -> Result<Option<String>, Error> {
    const KEY: &str = "alerts.to.key_env";
    match (table.text(KEY)?, kind) {
        (None, ReceiverKind::Pagerduty) => Err(Error::Contradiction {
            text: format!("{}: PagerDuty needs `key_env`", table.place),
            hint: "set a variable to the integration key (Events API v2) of a service, and name it: `key_env = \"PAGERDUTY_KEY\"`"
                .to_owned(),
        }),
        (None, _) => Ok(None),
        (Some((name, place)), _) if !is_variable(&name) => Err(Error::Contradiction {
            text: format!("{place}: `{KEY}` is the name of a variable of the environment that has the secret, never the secret itself"),
            hint: "letters, digits and `_`; variables of Daylight itself (`DAYLIGHT_`) are refused".to_owned(),
        }),
        (Some((name, _)), _) => Ok(Some(name)),
    }
}

fn is_name(name: &str) -> bool {
    let ends = |end: Option<char>| end.is_some_and(|end| end.is_ascii_lowercase() || end.is_ascii_digit());
    name.len() <= NAME_MAX
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && ends(name.chars().next())
        && ends(name.chars().last())
}

fn is_variable(name: &str) -> bool {
    name.len() <= NAME_MAX
        && !name.starts_with("DAYLIGHT_")
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests;
