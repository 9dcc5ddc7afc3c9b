//! From the settings of `server.acme` to the options of the client that gets the certificate.

use crate::acme::{ChallengeKind, Eab, Options};
use crate::config::{Error, Settings};
use client::Trust;
use repository::{BadSetting, References};

/// The options. `None`: the settings have no authority. A file that the settings name is read here, so a wrong one is told at the start.
pub(crate) fn of(settings: &Settings) -> anyhow::Result<Option<Options>> {
    let acme = &settings.acme;
    let Some(directory) = acme.directory.0.clone() else { return Ok(None) };
    let references = &settings.references;
    let trust = match acme.trust.as_os_str().is_empty() {
        true => Trust::MACHINE,
        false => {
            let pem = references.pem(&acme.trust.to_string_lossy()).map_err(|why| refused("trust", &why))?;
            Trust::new(&pem.into())?
        }
    };
    let eab = match (&acme.eab_key_id.0, &acme.eab_key.0) {
        (Some(id), Some(reference)) => {
            let key = references.secret(reference).map_err(|why| refused("eab_key", &why))?;
            Some(Eab { key_id: id.clone(), key })
        }
        _ => None,
    };
    let challenge = match settings.server.http_listen.0 {
        Some(_) => ChallengeKind::Http01,
        None => ChallengeKind::TlsAlpn01,
    };
    let folder = store::Layout::new(&settings.store.data).acme();
    let (names, contact) = (acme.names.0.clone(), acme.contact.0.clone());
    Ok(Some(Options { directory, names, contact, trust, eab, challenge, folder }))
}

fn refused(key: &str, why: &BadSetting) -> Error {
    Error::Contradiction { text: format!("`server.acme.{key}`: {why}"), hint: why.hint().to_owned() }
}
