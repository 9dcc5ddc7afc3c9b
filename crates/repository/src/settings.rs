//! The valid settings of a repository, by its kind and format. Every change of settings is checked here, whether it
//! comes from the API, the command line or the configuration file.

mod koji;
#[cfg(test)]
mod tests;

use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::name::RepositoryName;
use crate::policy::settle;
use crate::record::{RemoteRecord, RepositoryRecord};
use crate::upstream::checksum_policy::ChecksumPolicy;
use std::collections::HashSet;
use store::RepositoryKind;
use telemetry::Event;

/// Maximum number of members of one group.
const MEMBERS_MAX: usize = 300;
/// Maximum length of a URL, reference or path, in bytes.
const TEXT_MAX: usize = 2_048;
/// Maximum length of a host name, in bytes (RFC 1035 2.3.4).
const NAME_MAX: usize = 253;
/// Maximum number of hosts that are called without the proxy.
const NO_PROXY_MAX: usize = 64;
/// Maximum age, in seconds: a year.
const AGE_MAX_S: u64 = 366 * 86_400;
/// Maximum for the number of versions that cleanup keeps.
const KEPT_MAX: u64 = 1_000_000;
/// A day, in seconds. Last uses are recorded by the day.
const DAY_S: u64 = 86_400;
/// Minimum size of an upstream's cache, in bytes: a few files of a usual size.
const ROOM_MIN_BYTES: u64 = 16 << 20;

/// Refuses invalid settings, and normalises the others.
pub(crate) fn settle(record: &mut RepositoryRecord) -> Result<()> {
    record.name.parse::<RepositoryName>()?;
    let format = Format::named(&record.format).ok_or_else(|| Error::NoSuchFormat(Event::text(&record.format)))?;
    for one in Format::ALL {
        one.rules().settle(record, *one == format)?;
    }
    record.listing = record.listing.filter(|listed| !listed);
    if record.listing.is_some() && !format.is_tree() {
        return Err(BadSetting::not_for("listing", record, "repositories of Maven and of raw files").into());
    }
    members(record)?;
    if let Some(policy) = record.policy.take() {
        record.policy = settle::settle(*policy, record.kind, format)?.map(Box::new);
    }
    match (record.kind, &mut record.remote) {
        (RepositoryKind::Remote, Some(remote)) => upstream(remote)?,
        (RepositoryKind::Remote, None) => {
            let hint = "`daylight repo add NAME --format FORMAT --remote URL`";
            return Err(BadSetting::new("a remote repository needs the URL of its upstream", hint).into());
        }
        (_, Some(_)) => return Err(BadSetting::not_for("remote", record, "remote repositories").into()),
        (_, None) => {}
    }
    if let Some(reference) = &record.hook_secret {
        if record.kind == RepositoryKind::Hosted {
            return Err(BadSetting::not_for("hook_secret", record, "remote repositories and groups").into());
        }
        refers("hook_secret", reference)?;
    }
    cleanup_rules(record, format)?;
    let hosted = record.kind == RepositoryKind::Hosted;
    // The order decides which of several mistakes is reported.
    for one in Format::ALL.iter().rev() {
        one.rules().settle_hosted(record, hosted && *one == format)?;
    }
    Ok(())
}

/// Checks the rules of cleanup.
fn cleanup_rules(record: &RepositoryRecord, format: Format) -> Result<(), BadSetting> {
    let packages = record.kind == RepositoryKind::Hosted && format.rules().has_packages();
    if record.keep_versions.is_some() && !packages {
        return Err(BadSetting::not_for("keep_versions", record, "hosted repositories of gems and of Maven"));
    }
    if record.keep_unused_s.is_some() && !packages && record.kind != RepositoryKind::Remote {
        let whose = "hosted repositories of gems and of Maven, and remote repositories";
        return Err(BadSetting::not_for("keep_unused", record, whose));
    }
    BadSetting::check_range("keep_versions", record.keep_versions, 1..=KEPT_MAX)?;
    match record.keep_unused_s {
        Some(seconds) if !(DAY_S..=100 * AGE_MAX_S).contains(&seconds) => {
            Err(BadSetting::new("`keep_unused` is a day at least and 100 years at most", "such as `90d`"))
        }
        _ => Ok(()),
    }
}

/// Checks the members of a group. `repositories::members` checks that they exist.
fn members(record: &RepositoryRecord) -> Result<()> {
    let members = &record.members;
    if record.kind != RepositoryKind::Group {
        return members.first().map_or(Ok(()), |_| Err(BadSetting::not_for("members", record, "groups").into()));
    }
    if members.is_empty() || members.len() > MEMBERS_MAX {
        let text = format!("a group has 1 to {MEMBERS_MAX} members, not {}", members.len());
        return Err(
            BadSetting::new(text, "`--member NAME`, once for each, in the order in which they are asked").into()
        );
    }
    let mut seen = HashSet::new();
    for name in members {
        name.parse::<RepositoryName>()?;
        if !seen.insert(name) {
            return Err(BadSetting::new(format!("`members` names `{name}` twice"), "each member once").into());
        }
    }
    Ok(())
}

fn upstream(remote: &mut RemoteRecord) -> Result<(), BadSetting> {
    koji::settle(remote)?;
    // A remote repository without a URL is valid, but only a new data folder has one: a change that sets URLs sets at
    // least one.
    if remote.urls.len() > BadSetting::URLS_MAX {
        return Err(BadSetting::count_of_urls(remote.urls.len()));
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
    BadSetting::check_range("remote.fresh_s", remote.fresh_s, 0..=AGE_MAX_S)?;
    BadSetting::check_range("remote.missing_s", remote.missing_s, 0..=AGE_MAX_S)?;
    remote.prefixes = remote.prefixes.filter(|used| *used);
    BadSetting::check_range("remote.max_bytes", remote.max_bytes, ROOM_MIN_BYTES..=u64::MAX)
}

/// A base URL, without a slash at its end. Credentials are another setting. A message does not repeat a URL that may
/// contain credentials.
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
        let hint = match name {
            "remote.koji.hub" => "a hub is read without a login; `credentials` are for its files",
            _ => "name where they are: `credentials` takes `env:NAME` or `file:PATH`",
        };
        return Err(BadSetting::new(text, hint));
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

/// A host that is called without the proxy. `.example` and `*.example`, as other programs write it, become `example`.
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

/// A reference, `env:NAME` or `file:PATH`. Any other text may be the secret itself, so no message repeats it.
fn refers(name: &str, text: &str) -> Result<(), BadSetting> {
    match text.split_once(':') {
        Some(("env", variable)) if !variable.is_empty() && !variable.contains(['=', '\0']) => Ok(()),
        Some(("file", path)) => absolute(name, path),
        _ => {
            let hint = "`env:NAME` for a variable of the server's environment, `file:PATH` for a file it can read; \
                        `user:password`, a token or a secret stands in there";
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
