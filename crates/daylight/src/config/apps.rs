//! `[[app]]` in the configuration file: the applications in front of which `daylight front` stands. Its command line completes the only
//! one, or describes the only one without a file.

use super::app_pages::{self, DeclaredPages};
use super::app_table::{AppTable, KEYS, LANE, PAGES};
use super::error::Error;
use super::references::References;
use super::shares::Shares;
use super::value::Value;
use apps::{AppOptions, LaneOptions, Preset};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;
use toml::de::DeValue;

/// The name of such a table.
pub(super) const NAME: &str = "app";
/// The address of applications that name none.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
/// The most slots.
const SLOTS_MAX: u64 = 65_536;
/// The most bytes of a cache or a spool.
const BYTES_MAX: u64 = 1 << 50;
/// The longest time until a backend answers, in seconds.
const ANSWER_MAX_S: u64 = 24 * 3600;
/// The longest name.
const NAME_MAX: usize = 64;

/// An application in front of which `daylight front` stands.
#[derive(Debug, Clone)]
pub struct AppSettings {
    /// Where it is declared, for messages: file and line, or the command line.
    pub place: String,
    /// The address at which its clients connect.
    pub listen: SocketAddr,
    /// Its certificate. `None`: no TLS.
    pub tls: Option<TlsFiles>,
    /// The other settings. `to` is empty if the command of `daylight front` is its backend; the folder of its spool is chosen at the start.
    pub options: AppOptions,
}

/// The PEM files of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate with its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// An application as the file has it.
#[derive(Debug, Clone)]
pub(super) struct DeclaredApp {
    app: AppSettings,
    cache_bytes: Option<u64>,
    spool_bytes: Option<u64>,
    pages: Option<DeclaredPages>,
}

/// What the command line says of the only application.
#[derive(Debug, Clone, Default)]
pub struct GivenApp {
    /// `--to`: the URLs of its backends.
    pub to: Vec<String>,
    /// `--listen`.
    pub listen: Option<String>,
    /// Whether there is a COMMAND.
    pub command: bool,
}

/// Reads every table.
pub(super) fn read(
    tables: &Spanned<DeValue<'_>>,
    at: usize,
    place: impl Fn(usize) -> String,
) -> Result<Vec<DeclaredApp>, Error> {
    let form =
        |at| Error::NotToml { place: place(at), message: "write `[[app]]`, once for each application".to_owned() };
    let DeValue::Array(tables) = tables.get_ref() else { return Err(form(at)) };
    let mut apps = Vec::with_capacity(tables.len());
    for table in tables {
        let DeValue::Table(body) = table.get_ref() else { return Err(form(table.span().start)) };
        let table = AppTable::new(NAME, KEYS, body, table.span().start, &place)?;
        apps.push(one(&table)?);
    }
    Ok(apps)
}

fn one(table: &AppTable<'_>) -> Result<DeclaredApp, Error> {
    let mut app = AppSettings::new(table.place.clone());
    let options = &mut app.options;
    if let Some((name, place)) = table.text("app.name")? {
        if !is_name(&name) {
            return Err(Error::Invalid {
                place,
                key: "app.name",
                expects: format!("1 to {NAME_MAX} letters, digits, `-`, `_` and `.`"),
                value: name,
            });
        }
        options.name = name;
    }
    for (host, place) in table.texts("app.hosts")? {
        let host = host.to_ascii_lowercase();
        if !is_host(&host) {
            let expects = "host names without ports, such as `example.com` and `*.example.com`".to_owned();
            return Err(Error::Invalid { place, key: "app.hosts", expects, value: host });
        }
        options.hosts.push(host);
    }
    options.to = table.texts("app.to")?.into_iter().map(|(url, _)| url).collect();
    if let Some((path, place)) = table.text("app.health")? {
        if !path.starts_with('/') {
            let expects = "a path that begins with `/`".to_owned();
            return Err(Error::Invalid { place, key: "app.health", expects, value: path });
        }
        options.health = Some(path);
    }
    if let Some((preset, place)) = table.text("app.preset")? {
        let known = Preset::ALL.iter().copied().find(|known| known.as_str() == preset);
        let expects = || Preset::ALL.iter().map(|known| format!("`{}`", known.as_str())).collect::<Vec<_>>().join(", ");
        options.preset = Some(known.ok_or_else(|| Error::Invalid {
            place,
            key: "app.preset",
            expects: expects(),
            value: preset,
        })?);
    }
    options.sendfile_roots = table.texts("app.sendfile_roots")?.into_iter().map(|(root, _)| root).collect();
    if let Some(slots) = table.number("app.slots", 1, SLOTS_MAX)? {
        options.slots = slots as usize;
    }
    if let Some(seconds) = table.number("app.answer_timeout_s", 1, ANSWER_MAX_S)? {
        options.answer_within = Duration::from_secs(seconds);
    }
    for lane in table.tables("app.lane", LANE)? {
        let paths: Vec<String> = lane.texts("app.lane.paths")?.into_iter().map(|(path, _)| path).collect();
        let slots = lane.number("app.lane.slots", 1, SLOTS_MAX)?;
        let (Some(slots), false) = (slots, paths.is_empty()) else {
            let text = format!("{}: a lane needs `paths` and `slots`", lane.place);
            return Err(Error::Contradiction {
                text,
                hint: "for example `paths = [\"/reports/**\"]` and `slots = 2`".into(),
            });
        };
        options.lanes.push(LaneOptions { paths, slots: slots as usize });
    }
    if let Some((listen, place)) = table.text("app.listen")? {
        app.listen = address(&listen, &place)?;
    }
    app.tls = tls(table)?;
    let bytes = |key| table.number(key, 0, BYTES_MAX);
    let (cache_bytes, spool_bytes) = (bytes("app.cache_bytes")?, bytes("app.spool_bytes")?);
    let pages = table.table("app.pages", PAGES)?.map(|table| app_pages::read(&table)).transpose()?;
    Ok(DeclaredApp { app, cache_bytes, spool_bytes, pages })
}

impl AppSettings {
    /// Whether it is the same application with the same settings, wherever they are written.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let shown = |app: &Self| format!("{:?}", (app.listen, &app.tls, &app.options));
        shown(self) == shown(other)
    }

    /// The defaults that do not depend on the machine.
    fn new(place: String) -> Self {
        let options = AppOptions::of(NAME);
        Self { place, listen: LISTEN, tls: None, options }
    }
}

impl DeclaredApp {
    /// File and line.
    pub(super) fn place(&self) -> &str {
        &self.app.place
    }

    /// With the defaults of the machine, whose memory for caches `all` applications share, and with credentials.
    fn on(self, shares: &Shares, all: usize, references: &References) -> Result<AppSettings, Error> {
        let mut app = self.app;
        app.options.cache_bytes = self.cache_bytes.unwrap_or_else(|| shares.app_cache_bytes(all));
        app.options.spool_bytes = self.spool_bytes.unwrap_or_else(|| shares.app_spool_bytes());
        app.options.pages = self.pages.map(|pages| pages.with_credentials(references)).transpose()?;
        Ok(app)
    }
}

fn tls(table: &AppTable<'_>) -> Result<Option<TlsFiles>, Error> {
    match (table.text("app.tls_certificate")?, table.text("app.tls_key")?) {
        (Some((certificate, _)), Some((key, _))) => {
            Ok(Some(TlsFiles { certificate: certificate.into(), key: key.into() }))
        }
        (None, None) => Ok(None),
        (Some((_, place)), None) | (None, Some((_, place))) => Err(Error::Contradiction {
            text: format!("{place}: only one of `app.tls_certificate` and `app.tls_key` is set"),
            hint: "set both for TLS, or none to serve without TLS".to_owned(),
        }),
    }
}

/// Adds what the command line says, and refuses applications that cannot stand side by side.
pub(super) fn complete(
    mut declared: Vec<DeclaredApp>,
    given: &GivenApp,
    shares: &Shares,
    references: &References,
) -> Result<Vec<AppSettings>, Error> {
    const LINE: &str = "command line";
    if declared.is_empty() {
        let app = AppSettings::new(LINE.to_owned());
        declared.push(DeclaredApp { app, cache_bytes: None, spool_bytes: None, pages: None });
    }
    let all = declared.len();
    let on = |app: DeclaredApp| app.on(shares, all, references);
    let mut apps: Vec<AppSettings> = declared.into_iter().map(on).collect::<Result<_, _>>()?;
    let flags = [("`--to`", !given.to.is_empty()), ("COMMAND", given.command), ("`--listen`", given.listen.is_some())];
    let given_flag = flags.into_iter().find(|(_, given)| *given);
    if let ([_, second, ..], Some((flag, _))) = (&apps[..], given_flag) {
        return Err(Error::Contradiction {
            text: format!("{}: {flag} is for the only application, and there are {}", second.place, apps.len()),
            hint: "write it into the `[[app]]` that it is for; a COMMAND can only be the only application".to_owned(),
        });
    }
    if let [app] = &mut apps[..] {
        if given.command {
            app.options.to.clear();
        } else if !given.to.is_empty() {
            app.options.to.clone_from(&given.to);
        }
        if let Some(listen) = &given.listen {
            app.listen = address(listen, "flag --listen")?;
        }
    }
    if let Some(app) = apps.iter().find(|app| app.options.to.is_empty() && !given.command) {
        return Err(Error::Contradiction {
            text: match app.place.as_str() {
                LINE => "it is not said where the application is".to_owned(),
                place => format!("{place}: the application `{}` has no `to`", app.options.name),
            },
            hint:
                "name the URL of an application that runs (`to`, `--to URL`), or start one: `daylight front -- COMMAND`"
                    .to_owned(),
        });
    }
    for (at, app) in apps.iter().enumerate() {
        apps[..at].iter().try_for_each(|before| beside(before, app))?;
        let lanes: usize = app.options.lanes.iter().map(|lane| lane.slots).sum();
        if lanes >= app.options.slots {
            let text = format!(
                "{}: the lanes of `{}` have {lanes} of its {} slots, so none is left for other requests",
                app.place, app.options.name, app.options.slots
            );
            return Err(Error::Contradiction { text, hint: "raise `slots`, or give the lanes fewer".to_owned() });
        }
    }
    Ok(apps)
}

/// Refuses two applications that cannot be told apart.
fn beside(before: &AppSettings, app: &AppSettings) -> Result<(), Error> {
    let refused = |what: String, hint: &str| {
        Err(Error::Contradiction {
            text: format!("{}: {what}, as in {}", app.place, before.place),
            hint: hint.to_owned(),
        })
    };
    let (name, listen) = (&app.options.name, app.listen);
    if before.options.name == *name {
        return refused(
            format!("the name of the application is `{name}`"),
            "give each application a `name` of its own",
        );
    }
    if before.listen != listen || listen.port() == 0 {
        return Ok(());
    }
    if before.tls != app.tls {
        return refused(
            format!("it listens on {listen}, but with another certificate"),
            "applications of one address have one certificate: name the same files, or another `listen`",
        );
    }
    if before.options.hosts.is_empty() && app.options.hosts.is_empty() {
        return refused(
            format!("it listens on {listen} and has no `hosts`"),
            "only one application of an address can have all other host names: set `hosts`, or another `listen`",
        );
    }
    match app.options.hosts.iter().find(|host| before.options.hosts.contains(host)) {
        Some(host) => refused(format!("it has the host `{host}`"), "a host belongs to one application of an address"),
        None => Ok(()),
    }
}

fn address(text: &str, place: &str) -> Result<SocketAddr, Error> {
    <SocketAddr as Value>::parse(text).ok_or_else(|| Error::Invalid {
        place: place.to_owned(),
        key: "app.listen",
        expects: <SocketAddr as Value>::EXPECTS.to_owned(),
        value: text.to_owned(),
    })
}

fn is_name(name: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(known) && !name.starts_with('.')
}

/// Whether it is a host name, an IPv4 address, an IPv6 address in brackets, or `*.` before a name.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let name = host.strip_prefix("*.").unwrap_or(host);
    let label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.split('.').all(label)
}

#[cfg(test)]
mod tests;
