//! `[app.pages]` in the configuration file: the pages that the application of the table before it writes into memcached, Redis or Valkey.

use super::app_table::AppTable;
use super::error::Error;
use super::references::References;
use super::spelling::nearest;
use ::apps::{PageFormat, PagesOptions};
use client::{PageProtocol, PageServer};
use format::page::key::KeyRule;
use repository::References as _;
use std::time::Duration;

/// The most servers.
const SERVERS_MAX: usize = 64;
/// The longest namespace, in bytes: keys of memcached have at most 250, and the part after the namespace needs 42.
const NAMESPACE_MAX: usize = 200;
/// The most age that may be tolerated, in seconds: a year.
const TOLERANCE_MAX_S: u64 = 365 * 24 * 3600;
/// The longest time that a request waits for a server, in milliseconds.
const TIMEOUT_MAX_MS: u64 = 10_000;
/// The least and the most bytes of a value.
const VALUE_MIN_BYTES: u64 = 1 << 10;
const VALUE_MAX_BYTES: u64 = 64 << 20;

/// The table as the file has it.
#[derive(Debug, Clone)]
pub(super) struct DeclaredPages {
    options: PagesOptions,
    /// A reference to the credentials, and its place.
    credentials: Option<(String, String)>,
    /// Whether the servers are memcached.
    is_memcached: bool,
}

/// Reads the table.
pub(super) fn read(table: &AppTable<'_>) -> Result<DeclaredPages, Error> {
    let Some((format, place)) = table.text("app.pages.format")? else { return Err(incomplete(table)) };
    let named = PageFormat::ALL.iter().copied().map(|format| (format.as_str(), format));
    let format = choice("app.pages.format", &format, &place, named)?;
    let mut options = PagesOptions::of(format);
    options.keys = keys(table, format)?.unwrap_or(options.keys);
    let is_memcached = servers(table, &mut options)?;
    if let Some((namespace, place)) = table.text("app.pages.namespace")? {
        if namespace.len() > NAMESPACE_MAX || !namespace.bytes().all(|byte| byte > b' ' && byte != 0x7f) {
            return Err(Error::Invalid {
                place,
                key: "app.pages.namespace",
                expects: format!("at most {NAMESPACE_MAX} bytes without spaces"),
                value: namespace,
            });
        }
        options.namespace = namespace;
    }
    if let Some(seconds) = table.number("app.pages.tolerance_s", 0, TOLERANCE_MAX_S)? {
        refuse_for_hc1(
            table,
            format,
            "app.pages.tolerance_s",
            "the application writes into each page how long it may be used",
        )?;
        options.tolerance = Duration::from_secs(seconds);
    }
    if let Some(millis) = table.number("app.pages.timeout_ms", 1, TIMEOUT_MAX_MS)? {
        options.timeout = Duration::from_millis(millis);
    }
    if let Some(bytes) = table.number("app.pages.value_bytes", VALUE_MIN_BYTES, VALUE_MAX_BYTES)? {
        options.value_bytes = bytes as usize;
    }
    for (name, place) in table.texts("app.pages.bypass_cookies")? {
        if !name.bytes().all(is_of_token) {
            let expects = "names of cookies, without their values".to_owned();
            return Err(Error::Invalid { place, key: "app.pages.bypass_cookies", expects, value: name });
        }
        options.bypass_cookies.push(name);
    }
    Ok(DeclaredPages { options, credentials: table.text("app.pages.credentials")?, is_memcached })
}

impl DeclaredPages {
    /// With the credentials themselves.
    pub(super) fn with_credentials(mut self, references: &References) -> Result<PagesOptions, Error> {
        let Some((reference, place)) = self.credentials else { return Ok(self.options) };
        let refused = |what: String, hint: String| Error::Contradiction {
            text: format!("{place}: `app.pages.credentials`: {what}"),
            hint,
        };
        let secret =
            references.secret(&reference).map_err(|error| refused(error.to_string(), error.hint().to_owned()))?;
        if self.is_memcached && !secret.expose().contains(':') {
            let what = format!("`{reference}` has no user name, and memcached needs one");
            return Err(refused(what, "write `USER:PASSWORD` there, as in the file of `memcached -Y`".to_owned()));
        }
        self.options.credentials = Some(secret);
        Ok(self.options)
    }
}

fn incomplete(table: &AppTable<'_>) -> Error {
    Error::Contradiction {
        text: format!("{}: `[app.pages]` needs `format` and `servers`", table.place),
        hint: "for example `format = \"response_bank\"` and `servers = [\"memcached://127.0.0.1:11211\"]`".to_owned(),
    }
}

/// The rules of `keys`. `None`: the default.
fn keys(table: &AppTable<'_>, format: PageFormat) -> Result<Option<Vec<KeyRule>>, Error> {
    const KEY: &str = "app.pages.keys";
    let Some(place) = table.place_of_key(KEY) else { return Ok(None) };
    refuse_for_hc1(table, format, KEY, "its pages have one kind of key")?;
    let mut rules = Vec::new();
    for (name, place) in table.texts(KEY)? {
        let rule = choice(KEY, &name, &place, KeyRule::ALL.into_iter().map(|rule| (rule.as_str(), rule)))?;
        if rules.contains(&rule) {
            let hint = "write each once, the one that most pages have first".to_owned();
            return Err(Error::Contradiction { text: format!("{place}: `{KEY}` has `{name}` twice"), hint });
        }
        if format == PageFormat::Cacheable && !matches!(rule, KeyRule::Bare | KeyRule::City) {
            let text = format!("{place}: pages of `cacheable` have no keys of the kind `{name}`");
            return Err(Error::Contradiction {
                text,
                hint: "write `format = \"response_bank\"`, or `\"0\"`".to_owned(),
            });
        }
        rules.push(rule);
    }
    if rules.is_empty() {
        let text = format!("{place}: `{KEY}` is empty, so no page could be found");
        return Err(Error::Contradiction { text, hint: "leave it out for the kinds that are usual".to_owned() });
    }
    Ok(Some(rules))
}

/// Reads `servers`. Returns whether they are memcached.
fn servers(table: &AppTable<'_>, options: &mut PagesOptions) -> Result<bool, Error> {
    const KEY: &str = "app.pages.servers";
    let is_memcached = |server: &PageServer| matches!(server.protocol(), PageProtocol::Memcached);
    let mut servers: Vec<PageServer> = Vec::new();
    for (url, place) in table.texts(KEY)? {
        let refused = |what: String, hint: &str| {
            Err(Error::Contradiction { text: format!("{place}: `{KEY}`: {what}"), hint: hint.to_owned() })
        };
        // Such a URL is not printed.
        if url.contains('@') {
            return refused(
                "a URL has credentials".to_owned(),
                "name a variable with them: `credentials = \"env:NAME\"`",
            );
        }
        let server = match PageServer::new(&url) {
            Ok(server) => server,
            Err(error) => {
                return refused(
                    format!("{error}"),
                    "`memcached://HOST:PORT`, `redis://HOST:PORT` and `rediss://HOST:PORT` are possible",
                );
            }
        };
        let Some(first) = servers.first() else {
            servers.push(server);
            options.servers.push(url);
            continue;
        };
        if servers.iter().any(|other| other.authority() == server.authority()) {
            return refused(
                format!("`{}` is there twice", server.authority()),
                "write each server once; `?weight=2` gives it more keys",
            );
        }
        match (is_memcached(first), is_memcached(&server)) {
            (true, true) => {}
            (false, false) => {
                return refused(
                    "there are several servers of Redis".to_owned(),
                    "name one; only memcached's clients spread keys over several",
                );
            }
            _ => {
                return refused(
                    "memcached and Redis are mixed".to_owned(),
                    "name the servers of the one store into which the application writes",
                );
            }
        }
        if servers.len() == SERVERS_MAX {
            return refused(format!("there are more than {SERVERS_MAX} servers"), "name fewer");
        }
        servers.push(server);
        options.servers.push(url);
    }
    servers.first().map(is_memcached).ok_or_else(|| incomplete(table))
}

/// Refuses a setting that plays no part in HC1.
fn refuse_for_hc1(table: &AppTable<'_>, format: PageFormat, key: &str, why: &str) -> Result<(), Error> {
    let place = table.place_of_key(key).filter(|_| format == PageFormat::Hc1);
    place.map_or(Ok(()), |place| {
        let text = format!("{place}: `{key}` plays no part with `format = \"hc1\"`: {why}");
        Err(Error::Contradiction { text, hint: "leave it out".to_owned() })
    })
}

/// The value of this name. The error has all names, and the most similar one as its hint.
fn choice<T>(
    key: &'static str,
    name: &str,
    place: &str,
    named: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<T, Error> {
    if let Some((_, value)) = named.clone().find(|(known, _)| *known == name) {
        return Ok(value);
    }
    let names = named.clone().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let error =
        Error::Invalid { place: place.to_owned(), key, expects: format!("one of {names}"), value: name.to_owned() };
    Err(match nearest(name, named.map(|(name, _)| name)) {
        Some(nearest) => Error::Contradiction { text: error.to_string(), hint: format!("did you mean `{nearest}`?") },
        None => error,
    })
}

/// Whether it may be in the name of a cookie (RFC 6265 4.1.1, RFC 9110 5.6.2).
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
