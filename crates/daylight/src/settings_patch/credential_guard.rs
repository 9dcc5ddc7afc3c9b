//! Refuses changes of settings that would expose content or credentials as a side effect: publish what an upstream protects, or send
//! credentials to a host that they were not meant for.

use crate::config::references::References;
use http::Uri;
use repository::BadSetting;
use repository::{RemoteRecord, RepositoryRecord};
use serde_json::{Map, Value};

/// Whether the upstream needs credentials. Its content is then private, unless somebody says otherwise.
pub(super) fn needs_credentials(record: &RepositoryRecord) -> bool {
    record.remote.as_ref().is_some_and(|remote| remote.credentials.is_some() || remote.certificate.is_some())
}

/// Refuses to add credentials or a certificate to a repository that everybody may read, unless the same change says who may read it
/// (`decided`).
pub(super) fn check_readers(
    before: &RepositoryRecord,
    after: &RepositoryRecord,
    decided: bool,
) -> Result<(), BadSetting> {
    let Some(new) = &after.remote else { return Ok(()) };
    let old = before.remote.as_ref();
    let added = [
        ("credentials", &new.credentials, old.and_then(|old| old.credentials.as_ref())),
        ("certificate", &new.certificate, old.and_then(|old| old.certificate.as_ref())),
    ];
    match added.iter().find(|(_, new, old)| new.is_some() && old.is_none()) {
        Some((name, ..)) if !after.private && !decided => {
            let text =
                format!("anybody reads `{}`, and would read what `remote.{name}` of its upstream opens", after.name);
            let hint =
                "say who may read it in the same call: `private` is true or false (`--read token`, `--read anyone`)";
            Err(BadSetting::new(text, hint))
        }
        _ => Ok(()),
    }
}

/// Refuses references that a caller of the API may not use. `changes` are the settings of `remote` in the call; a reference that
/// the call does not name stays, and so does the host that its secret is sent to.
pub(super) fn check_references(changes: &Map<String, Value>, references: &References) -> Result<(), BadSetting> {
    for setting in ["credentials", "proxy_credentials", "certificate"] {
        if let Some(Value::String(reference)) = changes.get(setting) {
            references.check_api(&format!("remote.{setting}"), reference)?;
        }
    }
    Ok(())
}

/// Refuses to send the credentials of an upstream or a proxy to a host, port or scheme that the settings did not name before. Credentials
/// that the same change names (`named`) are meant for the new host.
pub(crate) fn check_hosts(
    before: &RepositoryRecord,
    after: &RepositoryRecord,
    named: &dyn Fn(&str) -> bool,
    hint: &str,
) -> Result<(), BadSetting> {
    let (Some(old), Some(new)) = (&before.remote, &after.remote) else { return Ok(()) };
    let moved = |of: fn(&RemoteRecord) -> Vec<&String>| {
        let known: Vec<_> = of(old).into_iter().map(|url| origin(url)).collect();
        of(new).into_iter().any(|url| !known.contains(&origin(url)))
    };
    // A Koji hub gets no credentials, but it says which files they are sent for.
    let called = [
        ("urls", moved(|remote| remote.urls.iter().collect())),
        ("koji.files", moved(|remote| remote.koji.iter().map(|koji| &koji.files).collect())),
        ("koji.hub", moved(|remote| remote.koji.iter().map(|koji| &koji.hub).collect())),
    ];
    let other = called.into_iter().find(|(_, moved)| *moved).map(|(setting, _)| setting);
    let (upstream, proxy) = (other.is_some(), moved(|remote| remote.proxy.iter().collect()));
    // A proxy can read plain-text requests to an upstream.
    let removed = |host: &String| !new.no_proxy.iter().flatten().any(|kept| kept == host);
    let fewer_exceptions = new.proxy.is_some() && old.no_proxy.iter().flatten().any(removed);
    let readable = (proxy || fewer_exceptions) && new.file_urls().any(|url| !url.starts_with("https://"));
    let kept = [
        ("credentials", &new.credentials, upstream, readable),
        ("certificate", &new.certificate, upstream, false),
        ("proxy_credentials", &new.proxy_credentials, false, proxy),
    ];
    let sent = kept
        .into_iter()
        .find(|(name, secret, upstream, proxy)| secret.is_some() && (*upstream || *proxy) && !named(name));
    let Some((name, _, upstream, _)) = sent else { return Ok(()) };
    let cause = match (other.filter(|_| upstream), proxy) {
        (Some(setting), _) => format!("`remote.{setting}` names a host"),
        (None, true) => "`remote.proxy` names a host".to_owned(),
        (None, false) => "`remote.no_proxy` leaves more to a host".to_owned(),
    };
    let text = format!("`{}`: {cause} that `remote.{name}` was not given for", after.name);
    Err(BadSetting::new(text, hint))
}

/// The origin of a URL. A text that is not a URL is its own origin; it is refused elsewhere.
fn origin(url: &str) -> String {
    let read = url.parse::<Uri>().ok().and_then(|uri| {
        let (scheme, host) = (uri.scheme_str()?.to_owned(), uri.host()?.to_ascii_lowercase());
        let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        Some(format!("{scheme}://{host}:{port}"))
    });
    read.unwrap_or_else(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use store::RepositoryKind;
    use telemetry::Millis;

    fn remote(url: &str, change: impl FnOnce(&mut RemoteRecord)) -> RepositoryRecord {
        let mut remote = RemoteRecord { urls: vec![url.to_owned()], ..RemoteRecord::default() };
        change(&mut remote);
        let record = RepositoryRecord::new("m", "maven", RepositoryKind::Remote, Millis(0));
        RepositoryRecord { remote: Some(Box::new(remote)), ..record }
    }

    fn refused(before: &RepositoryRecord, after: &RepositoryRecord, named: &[&str]) -> Option<String> {
        check_hosts(before, after, &|name| named.contains(&name), "").err().map(|error| error.to_string())
    }

    #[test]
    fn credentials_and_certificates_are_not_sent_to_another_host() {
        let with = |url: &str| remote(url, |remote| remote.credentials = Some("env:A".into()));
        let before = with("https://a.example/x");
        for same in ["https://A.example:443/y", "https://a.example"] {
            assert_eq!(refused(&before, &with(same), &[]), None, "{same}");
        }
        for other in ["https://b.example/x", "http://a.example/x", "https://a.example:444/x", "https://a.example.b/x"] {
            let said = "`m`: `remote.urls` names a host that `remote.credentials` was not given for";
            assert_eq!(refused(&before, &with(other), &[]).as_deref(), Some(said), "{other}");
            assert_eq!(refused(&before, &with(other), &["credentials"]), None, "{other}");
        }
        let with = |url: &str| {
            remote(url, |remote| {
                remote.credentials = Some("env:A".into());
                remote.certificate = Some("/a.pem".into());
            })
        };
        let said = refused(&with("https://a"), &with("https://b"), &["credentials"]).unwrap();
        assert!(said.contains("`remote.certificate`"), "{said}");
        let open = |url| remote(url, |_| {});
        assert_eq!(refused(&open("https://a"), &open("https://b"), &[]), None);
    }

    #[test]
    fn credentials_for_the_files_of_a_koji_hub_are_not_sent_elsewhere_or_for_another_hub() {
        let with = |hub: &str, files: &str, proxy: Option<&str>| {
            remote("", |remote| {
                remote.urls.clear();
                let koji = json!({"hub": hub, "files": files, "tags": ["a"]});
                remote.koji = serde_json::from_value(koji).unwrap();
                remote.credentials = Some("env:A".into());
                remote.proxy = proxy.map(str::to_owned);
            })
        };
        let before = with("http://h/kojihub", "https://f/files", None);
        let said = |setting: &str| {
            Some(format!("`m`: `remote.{setting}` names a host that `remote.credentials` was not given for"))
        };
        assert_eq!(refused(&before, &with("http://h/other", "https://f/other", None), &[]), None);
        for (other, setting) in [
            (with("http://h/kojihub", "https://g/files", None), "koji.files"),
            (with("http://h/kojihub", "http://f/files", None), "koji.files"),
            (with("http://i/kojihub", "https://f/files", None), "koji.hub"),
        ] {
            assert_eq!(refused(&before, &other, &[]), said(setting));
            assert_eq!(refused(&before, &other, &["credentials"]), None);
        }
        // A proxy can read calls of the files in plain text. Nothing secret is sent to the hub.
        assert_eq!(refused(&before, &with("http://h/kojihub", "https://f/files", Some("http://p")), &[]), None);
        let (plain, through) = (with("http://h", "http://f", None), with("http://h", "http://f", Some("http://p")));
        assert_eq!(refused(&plain, &through, &[]), said("proxy"));
    }

    #[test]
    fn a_proxy_reads_no_credentials_that_were_not_meant_for_it() {
        let with = |url: &str, proxy: Option<&str>| {
            remote(url, |remote| {
                remote.credentials = Some("env:A".into());
                remote.proxy = proxy.map(str::to_owned);
            })
        };
        let (plain, tls) = ("http://a", "https://a");
        assert!(refused(&with(plain, None), &with(plain, Some("http://p")), &[]).unwrap().contains("`remote.proxy`"));
        assert_eq!(refused(&with(plain, Some("http://p")), &with(plain, None), &[]), None);
        assert_eq!(refused(&with(tls, None), &with(tls, Some("http://p")), &[]), None);
        let past = |host: &str| {
            let mut record = with(plain, Some("http://p"));
            record.remote.as_mut().unwrap().no_proxy = Some(vec![host.to_owned()]);
            record
        };
        let said = refused(&past("a"), &with(plain, Some("http://p")), &[]).unwrap();
        assert!(said.contains("`remote.no_proxy` leaves more"), "{said}");
        assert_eq!(refused(&with(plain, Some("http://p")), &past("a"), &[]), None);
        let login = |proxy: &str| {
            remote(tls, |remote| {
                remote.proxy = Some(proxy.to_owned());
                remote.proxy_credentials = Some("env:P".into());
            })
        };
        let said = refused(&login("http://p"), &login("http://q"), &[]).unwrap();
        assert_eq!(said, "`m`: `remote.proxy` names a host that `remote.proxy_credentials` was not given for");
        assert_eq!(refused(&login("http://p"), &login("http://q"), &["proxy_credentials"]), None);
    }
}
