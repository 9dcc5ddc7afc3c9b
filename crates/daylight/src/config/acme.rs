//! The types of the settings of the certificate that the server gets by itself.

use super::value::Value;
use http::Uri;
use std::net::IpAddr;

/// Most names of a certificate. Public authorities take as many.
const NAMES_MAX: usize = 100;
/// Longest name, and longest label of a name (RFC 1035, 2.3.4), in bytes.
const NAME_MAX: usize = 253;
const LABEL_MAX: usize = 63;
/// Most mail addresses, and the longest (RFC 5321, 4.5.3.1), in bytes.
const CONTACTS_MAX: usize = 10;
const CONTACT_MAX: usize = 254;
/// Longest URL, id of a key, and reference to a key, in bytes.
const TEXT_MAX: usize = 2048;

/// The URL of an authority's directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryUrl(pub Option<String>);

impl Value for DirectoryUrl {
    const EXPECTS: &'static str = "a URL with `https`, such as `https://ca.example/acme/directory`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let url: Uri = text.parse().ok()?;
        // RFC 8555, 6.1: only with TLS.
        let secure = url.scheme_str() == Some("https") && text.len() <= TEXT_MAX;
        let plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        (secure && plain).then(|| Self(Some(text.to_owned())))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

/// The names of the server: DNS names in lower case, and IP addresses. Each is there once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerNames(pub Vec<String>);

impl Value for ServerNames {
    const EXPECTS: &'static str =
        "at most 100 names with commas between them and without `*`, such as `packages.example`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let mut names: Vec<String> = Vec::new();
        for part in parts(text) {
            let name = part.parse::<IpAddr>().map(|address| address.to_string()).ok().or_else(|| dns_name(part))?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty() && names.len() <= NAMES_MAX).then_some(Self(names))
    }

    fn json(&self) -> serde_json::Value {
        self.0.join(", ").into()
    }
}

/// A name as certificates have it: letters, digits and hyphens (RFC 1123, 2.1). The last label of a name is no number.
fn dns_name(text: &str) -> Option<String> {
    let label = |label: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let inside = !label.starts_with('-') && !label.ends_with('-');
        inside && (1..=LABEL_MAX).contains(&label.len()) && label.bytes().all(known)
    };
    let is_number = text.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    (text.len() <= NAME_MAX && text.split('.').all(label) && !is_number).then(|| text.to_ascii_lowercase())
}

/// Mail addresses, without `mailto:`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contacts(pub Vec<String>);

impl Value for Contacts {
    const EXPECTS: &'static str =
        "at most 10 mail addresses with commas between them, such as `admins@packages.example`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let address = |part: &str| {
            let address = part.strip_prefix("mailto:").unwrap_or(part);
            let (local, host) = address.split_once('@')?;
            // RFC 8555, 7.3: one address, and none of the headers that follow a `?`.
            let plain = |byte: u8| byte.is_ascii_graphic() && !b"?&<>\"%".contains(&byte);
            let valid = !local.is_empty() && local.bytes().all(plain) && dns_name(host).is_some();
            (valid && address.len() <= CONTACT_MAX).then(|| address.to_owned())
        };
        let addresses = parts(text).map(address).collect::<Option<Vec<_>>>()?;
        (!addresses.is_empty() && addresses.len() <= CONTACTS_MAX).then_some(Self(addresses))
    }

    fn json(&self) -> serde_json::Value {
        self.0.join(", ").into()
    }
}

/// The id of the key of a customer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EabKeyId(pub Option<String>);

impl Value for EabKeyId {
    const EXPECTS: &'static str = "the id that the authority shows beside the key, without white space";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let valid = !text.is_empty() && text.len() <= TEXT_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
        valid.then(|| Self(Some(text.to_owned())))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

/// A reference to a secret: never the secret itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretReference(pub Option<String>);

impl Value for SecretReference {
    const EXPECTS: &'static str = "`file:PATH` or `env:NAME`, and never the secret itself";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':')?;
        let valid =
            matches!(kind, "file" | "env") && !rest.is_empty() && !rest.contains('\0') && text.len() <= TEXT_MAX;
        valid.then(|| Self(Some(text.to_owned())))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests;
