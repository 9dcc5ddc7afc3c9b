//! What the settings of a repository may be: which belong to its kind and format, and what each may say. Every change
//! of them passes here, whether it came through the API, the command line or the configuration file.

#[cfg(test)]
mod tests;

use crate::bad_setting::BadSetting;
use crate::error::Error;
use crate::format::Format;
use crate::gem::reformat;
use crate::maven::version_policy::VersionPolicy;
use crate::name::RepositoryName;
use crate::policy::settle;
use crate::upstream::checksum_policy::ChecksumPolicy;
use format::gem::info::FormatVersion;
use store::{RemoteRecord, RepositoryKind, RepositoryRecord, Retention};
use telemetry::Event;

/// Most URLs of one remote repository: the upstream and its mirrors.
const URLS_MAX: usize = 8;
/// Most members of one group.
const MEMBERS_MAX: usize = 100;
/// Longest URL, reference or path, in bytes.
const TEXT_MAX: usize = 2_048;
/// Longest name of a host, in bytes (RFC 1035 2.3.4).
const NAME_MAX: usize = 253;
/// Most hosts that are reached without a proxy.
const NO_PROXY_MAX: usize = 64;
/// Longest age, in seconds: a year.
const AGE_MAX_S: u64 = 366 * 86_400;
/// Least room for what is kept of an upstream, in bytes: a few files of a usual size.
const ROOM_MIN_BYTES: u64 = 16 << 20;
/// Most builds or days of snapshots that are kept.
const KEPT_MAX: u64 = 100_000;

/// Refuses settings that cannot be, and brings the others into the form in which they are kept.
pub(crate) fn settle(record: &mut RepositoryRecord) -> Result<(), Error> {
    record.name.parse::<RepositoryName>()?;
    let format = Format::named(&record.format).ok_or_else(|| Error::NoSuchFormat(Event::text(&record.format)))?;
    match (record.kind, format) {
        (RepositoryKind::Group, Format::Gem) => {
            let text = "groups of gems cannot be made yet, only those of maven and raw";
            return Err(Error::Unsupported(text.into()));
        }
        (RepositoryKind::Remote, Format::Gem) => {
            let text = "remote repositories of gems cannot be made yet, only those of maven and raw";
            return Err(Error::Unsupported(text.into()));
        }
        _ => {}
    }
    gems(record, format)?;
    members(record)?;
    if let Some(policy) = record.policy.take() {
        record.policy = settle::settle(*policy, (record.kind, format))?.map(Box::new);
    }
    match (record.kind, &mut record.remote) {
        (RepositoryKind::Remote, Some(remote)) => upstream(remote)?,
        (RepositoryKind::Remote, None) => {
            let hint = "`daylight repo add NAME --format maven --remote URL`";
            return Err(BadSetting::new("a remote repository needs the URL of its upstream", hint).into());
        }
        (_, Some(_)) => return Err(not_for("remote", record, "remote repositories").into()),
        (_, None) => {}
    }
    if record.replaceable && (record.kind, format) != (RepositoryKind::Hosted, Format::Raw) {
        return Err(not_for("replaceable", record, "hosted repositories of format raw").into());
    }
    versions(record, format)
}

/// What only groups have. Whether the members are there is looked at beside the other repositories.
fn members(record: &RepositoryRecord) -> Result<(), Error> {
    let members = &record.members;
    if record.kind != RepositoryKind::Group {
        return members.first().map_or(Ok(()), |_| Err(not_for("members", record, "groups").into()));
    }
    if members.is_empty() || members.len() > MEMBERS_MAX {
        let text = format!("a group has 1 to {MEMBERS_MAX} members, not {}", members.len());
        return Err(
            BadSetting::new(text, "`--member NAME`, once for each, in the order in which they are asked").into()
        );
    }
    for (at, name) in members.iter().enumerate() {
        name.parse::<RepositoryName>()?;
        if members[..at].contains(name) {
            return Err(BadSetting::new(format!("`members` names `{name}` twice"), "each member once").into());
        }
    }
    Ok(())
}

/// What only repositories of gems have.
fn gems(record: &mut RepositoryRecord, format: Format) -> Result<(), BadSetting> {
    if let Some(name) = &record.info_format {
        let there_is_none =
            || BadSetting::new(format!("there is no info format `{}`", Event::text(name)), "there are: v1, v2");
        record.info_format = reformat::name(FormatVersion::named(name).ok_or_else(there_is_none)?);
    }
    if format == Format::Gem {
        return Ok(());
    }
    let named = [
        ("protocols", !record.protocols_off.is_empty()),
        ("owners", record.owners_enforced),
        ("info_format", record.info_format.is_some()),
    ];
    match named.iter().find(|(_, set)| *set) {
        Some((name, _)) => Err(not_for(name, record, "repositories of gems")),
        None => Ok(()),
    }
}

/// What only hosted repositories of Maven have.
fn versions(record: &mut RepositoryRecord, format: Format) -> Result<(), Error> {
    let policy = record.versions.as_deref().map(VersionPolicy::named).transpose()?;
    let ours = record.kind == RepositoryKind::Hosted && format == Format::Maven;
    if policy.is_some() && !ours {
        return Err(not_for("versions", record, "hosted repositories of format maven").into());
    }
    record.versions = policy.filter(|policy| *policy != VersionPolicy::Mixed).map(|policy| policy.as_str().to_owned());
    record.retention = record.retention.filter(|retention| *retention != Retention::default());
    let Some(Retention { builds, days, released_days }) = record.retention else { return Ok(()) };
    if !ours {
        return Err(not_for("retention", record, "hosted repositories of format maven").into());
    }
    if policy == Some(VersionPolicy::Releases) {
        let hint = "releases are kept until somebody deletes them";
        return Err(
            BadSetting::new("`retention` is about snapshots, and the repository takes releases only", hint).into()
        );
    }
    number("retention.builds", builds, 1..=KEPT_MAX)?;
    number("retention.days", days, 1..=KEPT_MAX)?;
    number("retention.released_days", released_days, 0..=KEPT_MAX)?;
    Ok(())
}

fn upstream(remote: &mut RemoteRecord) -> Result<(), BadSetting> {
    if remote.urls.is_empty() || remote.urls.len() > URLS_MAX {
        let text = format!("`remote.urls` has 1 to {URLS_MAX} URLs, not {}", remote.urls.len());
        return Err(BadSetting::new(text, "the upstream first, then its mirrors"));
    }
    for url in &mut remote.urls {
        *url = base("remote.urls", url, &["https", "http"])?;
    }
    if let Some(proxy) = &mut remote.proxy {
        *proxy = base("remote.proxy", proxy, &["http"])?;
    }
    if remote.proxy_credentials.is_some() && remote.proxy.is_none() {
        let hint = "name the proxy with `proxy`";
        return Err(BadSetting::new("`remote.proxy_credentials` are for a proxy, and there is none", hint));
    }
    remote.no_proxy = remote.no_proxy.take().filter(|hosts| !hosts.is_empty());
    if let Some(hosts) = &mut remote.no_proxy {
        if remote.proxy.is_none() {
            return Err(BadSetting::new(
                "`remote.no_proxy` is about a proxy, and there is none",
                "name it with `proxy`",
            ));
        }
        if hosts.len() > NO_PROXY_MAX {
            let text = format!("`remote.no_proxy` has {NO_PROXY_MAX} hosts at most, not {}", hosts.len());
            return Err(BadSetting::new(text, "a name stands for all names below it"));
        }
        for host in hosts {
            *host = unproxied(host)?;
        }
    }
    for (name, reference) in
        [("remote.credentials", &remote.credentials), ("remote.proxy_credentials", &remote.proxy_credentials)]
    {
        reference.as_deref().map_or(Ok(()), |text| refers(name, text))?;
    }
    for (name, path) in [("remote.trust", &remote.trust), ("remote.certificate", &remote.certificate)] {
        path.as_deref().map_or(Ok(()), |path| absolute(name, path))?;
    }
    let checksums = remote.checksums.as_deref().map(ChecksumPolicy::named).transpose()?;
    remote.checksums =
        checksums.filter(|policy| *policy != ChecksumPolicy::Strict).map(|policy| policy.as_str().to_owned());
    number("remote.fresh_s", remote.fresh_s, 0..=AGE_MAX_S)?;
    number("remote.missing_s", remote.missing_s, 0..=AGE_MAX_S)?;
    remote.prefixes = remote.prefixes.filter(|used| *used);
    number("remote.max_bytes", remote.max_bytes, ROOM_MIN_BYTES..=u64::MAX)
}

/// A URL of which paths are asked, without a slash at its end. Credentials have a place of their own: what stands in a
/// URL stands in messages, too, so one that may hold them is not repeated.
fn base(name: &str, text: &str, schemes: &[&str]) -> Result<String, BadSetting> {
    let shown = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    let hint = format!("such as `{}://host:port/path`", schemes[0]);
    let refused = |why: &str| BadSetting::new(format!("`{name}`: `{}` {why}", Event::text(shown)), &hint);
    let (scheme, rest) = text.split_once("://").ok_or_else(|| refused("is not a URL"))?;
    if !schemes.contains(&scheme) {
        return Err(refused(&format!("does not begin with `{}://`", schemes.join("://` or `"))));
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.contains('@') {
        let text = format!("`{name}`: a URL holds no user and no password");
        return Err(BadSetting::new(text, "name where they are: `credentials` takes `env:NAME` or `file:PATH`"));
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let good_host = match inside {
        Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(named),
    };
    if !good_host || port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Err(refused("has no host, or an odd one"));
    }
    if path.bytes().any(|byte| !byte.is_ascii_graphic() || matches!(byte, b'?' | b'#' | b'\\')) || text.len() > TEXT_MAX
    {
        return Err(refused("has a path that nothing can be put behind"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// A host that is reached without the proxy. `.example` and `*.example`, as others write it, are `example`.
fn unproxied(text: &str) -> Result<String, BadSetting> {
    let host = text.strip_prefix('*').unwrap_or(text);
    let host = host.strip_prefix('.').unwrap_or(host).to_ascii_lowercase();
    let named = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let name = !host.is_empty() && host.len() <= NAME_MAX && host.bytes().all(named);
    if name || host.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(host);
    }
    let text = format!("`remote.no_proxy`: `{}` is neither the name of a host nor an address", Event::text(text));
    Err(BadSetting::new(text, "such as `inside.example`, which stands for all names below it, too; without a port"))
}

/// `env:NAME` or `file:PATH`. What is neither may be the secret itself, so it is not repeated.
fn refers(name: &str, text: &str) -> Result<(), BadSetting> {
    match text.split_once(':') {
        Some(("env", variable)) if !variable.is_empty() && !variable.contains(['=', '\0']) => Ok(()),
        Some(("file", path)) => absolute(name, path),
        _ => {
            let hint = "`env:NAME` for a variable of the server's environment, `file:PATH` for a file it can read; \
                        `user:password` or a token stands in there";
            Err(BadSetting::new(format!("`{name}` says where the credentials are, never what they are"), hint))
        }
    }
}

fn absolute(name: &str, path: &str) -> Result<(), BadSetting> {
    if path.starts_with('/') && path.len() <= TEXT_MAX && !path.contains('\0') {
        return Ok(());
    }
    let text = format!("`{name}`: `{}` is not the whole path of a file", Event::text(path));
    Err(BadSetting::new(text, "begin with `/`: the server may be started anywhere"))
}

fn number(name: &str, value: Option<u64>, range: std::ops::RangeInclusive<u64>) -> Result<(), BadSetting> {
    match value {
        Some(value) if !range.contains(&value) => {
            let hint = match *range.end() {
                u64::MAX => format!("at least {}", range.start()),
                end => format!("from {} to {end}", range.start()),
            };
            Err(BadSetting::new(format!("`{name}` cannot be {value}"), &hint))
        }
        _ => Ok(()),
    }
}

fn not_for(name: &str, record: &RepositoryRecord, whose: &str) -> BadSetting {
    let text = format!("`{name}` is a setting of {whose}");
    let (kind, format) = (record.kind.as_str(), &record.format);
    BadSetting::new(text, &format!("`{}` is a {kind} repository of format {format}: leave it out", record.name))
}
