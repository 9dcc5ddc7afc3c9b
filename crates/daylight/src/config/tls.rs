//! Whether the server speaks TLS, and settings of TLS that contradict each other.

use super::error::Error;
use super::keys::Settings;
use super::value::PublicUrl;
use http::Uri;

impl Settings {
    /// Whether the server speaks TLS at its own address.
    pub fn speaks_tls(&self) -> bool {
        self.acme.directory.0.is_some() || !self.server.tls_certificate.as_os_str().is_empty()
    }
}

/// Refuses settings of TLS that contradict each other. `is_front`: those of `daylight front`. Returns a warning for each that has no effect.
pub(super) fn contradictions(settings: &Settings, is_front: bool) -> Result<Vec<String>, Error> {
    let (server, acme) = (&settings.server, &settings.acme);
    let has_files = !server.tls_certificate.as_os_str().is_empty();
    let (has_acme, has_names) = (acme.directory.0.is_some(), !acme.names.0.is_empty());
    let refused = |text: &str, hint: &str| Err(Error::Contradiction { text: text.to_owned(), hint: hint.to_owned() });
    if has_files == server.tls_key.as_os_str().is_empty() {
        return refused(
            "only one of `server.tls_certificate` and `server.tls_key` is set",
            "set both for TLS, or none to serve without TLS",
        );
    }
    if is_front && (has_acme || has_names || server.http_listen.0.is_some()) {
        return refused(
            "`server.acme` and `server.http_listen` are for `daylight serve`, and this is `daylight front`",
            "let another ACME client renew the files of `tls_certificate` and `tls_key` in `[[app]]`: they are read again when they change",
        );
    }
    if has_acme != has_names {
        return refused(
            "only one of `server.acme.directory` and `server.acme.names` is set",
            "the directory is the URL of the authority, such as `https://acme-v02.api.letsencrypt.org/directory`, and the names are those of this server",
        );
    }
    if has_acme && has_files {
        return refused(
            "`server.acme.directory` and `server.tls_certificate` are set, and a server has one certificate",
            "remove `server.tls_certificate` and `server.tls_key`, or the section `server.acme`",
        );
    }
    if acme.eab_key_id.0.is_some() != acme.eab_key.0.is_some() {
        return refused(
            "only one of `server.acme.eab_key_id` and `server.acme.eab_key` is set",
            "the authority shows both to its customers; most authorities need none",
        );
    }
    if let Some(address) = server.http_listen.0 {
        if !has_files && !has_acme {
            return refused(
                "`server.http_listen` redirects to `https`, but the server has no certificate",
                "set `server.acme` or `server.tls_certificate`; without TLS set only `server.listen`",
            );
        }
        if address.port() == server.listen.port() && address.port() != 0 {
            return refused(
                "`server.http_listen` and `server.listen` have the same port",
                "one port speaks TLS and the other does not: usually 443 and 80",
            );
        }
    }
    Ok(without_effect(settings, has_acme))
}

/// Warnings about settings that have no effect, or not the effect that was meant.
fn without_effect(settings: &Settings, has_acme: bool) -> Vec<String> {
    let acme = &settings.acme;
    let set = [
        ("contact", !acme.contact.0.is_empty()),
        ("trust", !acme.trust.as_os_str().is_empty()),
        ("eab_key_id", acme.eab_key_id.0.is_some()),
    ];
    if !has_acme {
        let unused = set.into_iter().filter(|(_, is_set)| *is_set);
        let warning = |(key, _)| format!("`server.acme.{key}` has no effect while `server.acme.directory` is not set");
        return unused.map(warning).collect();
    }
    let PublicUrl(url) = &settings.server.public_url;
    let host = url.as_ref().and_then(|url| url.parse::<Uri>().ok()?.host().map(str::to_ascii_lowercase));
    let host = host.map(|host| host.trim_matches(['[', ']']).to_owned());
    let unnamed = host.filter(|host| !acme.names.0.contains(host));
    let warning = |host| {
        format!(
            "`server.public_url` has the host `{host}`, which is not among `server.acme.names`: clients that reach this server by it refuse the certificate"
        )
    };
    unnamed.into_iter().map(warning).collect()
}
