//! The account at the authority: it is made once, and kept in the data folder.

use super::calls::Calls;
use super::failure::Failure;
use super::options::{Eab, Options};
use anyhow::Context as _;
use client::Secret;
use data_encoding::BASE64URL_NOPAD;
use insight::StateFile;
use instant_acme::{Account, AccountCredentials, ExternalAccountKey, NewAccount};
use serde::{Deserialize, Serialize};

/// Maximum size of the file.
const FILE_MAX_BYTES: u64 = 64 << 10;
/// In words, for failures.
const MAKING: &str = "cannot make an account";

/// The account in the data folder, with its key.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    /// The directory of the authority that it is at.
    pub(super) directory: String,
    /// Its mail addresses.
    contact: Vec<String>,
    /// The directory of the authority that gave the certificate in use; it is another one after the setting was changed.
    #[serde(default)]
    pub(super) certificate_of: Option<String>,
    credentials: AccountCredentials,
}

impl Kept {
    /// Reads the file. `None`: there is none yet.
    pub(super) fn read(file: &StateFile) -> anyhow::Result<Option<Self>> {
        let Some(bytes) = file.read(FILE_MAX_BYTES)? else { return Ok(None) };
        Ok(Some(serde_json::from_slice(&bytes)?))
    }

    /// Writes the file.
    pub(super) fn write(&self, file: &StateFile) -> anyhow::Result<()> {
        file.write(&serde_json::to_vec_pretty(self)?).with_context(|| format!("cannot write `{file}`"))
    }
}

/// The account of the data folder, or a new one. `again`: the authority does not know that of the data folder.
pub(super) async fn account(
    options: &Options,
    host: &str,
    file: &StateFile,
    calls: &Calls,
    again: bool,
) -> Result<Account, Failure> {
    // A damaged file is replaced: what it had cannot be had otherwise.
    let kept = Kept::read(file).unwrap_or_default();
    let former = kept.as_ref().map(|kept| kept.certificate_of.clone().unwrap_or_else(|| kept.directory.clone()));
    match kept.filter(|kept| kept.directory == options.directory && !again) {
        Some(kept) => known(options, host, file, calls, kept).await,
        None => new(options, host, file, calls, former).await,
    }
}

async fn known(
    options: &Options,
    host: &str,
    file: &StateFile,
    calls: &Calls,
    mut kept: Kept,
) -> Result<Account, Failure> {
    // A disk that takes nothing would lose the certificate once it is there, and authorities count what they give.
    kept.write(file).map_err(|error| Failure::of_file(&error))?;
    let failed = |error: instant_acme::Error| Failure::of(&error, host, "cannot ask the authority");
    let contact = addresses(&options.contact);
    let (text, was) = (serde_json::to_vec(&kept.credentials), kept.contact.clone());
    let credentials = text.and_then(|text| serde_json::from_slice(&text)).map_err(|error| failed(error.into()))?;
    let builder = Account::builder_with_http(Box::new(calls.clone()));
    let account = builder.from_credentials(credentials).await.map_err(failed)?;
    if was != options.contact {
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        let what = "cannot change the contact of the account";
        account.update_contacts(&contact).await.map_err(|error| Failure::of(&error, host, what))?;
        kept.contact.clone_from(&options.contact);
        kept.write(file).map_err(|error| Failure::of_file(&error))?;
    }
    Ok(account)
}

async fn new(
    options: &Options,
    host: &str,
    file: &StateFile,
    calls: &Calls,
    certificate_of: Option<String>,
) -> Result<Account, Failure> {
    let contact = addresses(&options.contact);
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    // To name a directory is to agree to its terms: docs/acme.md says so.
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let external = options.eab.as_ref().map(external).transpose()?;
    let builder = Account::builder_with_http(Box::new(calls.clone()));
    let made = builder.create(&wanted, options.directory.clone(), external.as_ref()).await;
    let (account, credentials) = made.map_err(|error| {
        let failure = Failure::of(&error, host, MAKING);
        match external.is_some() && !failure.is_away && failure.hint.is_none() {
            true => failure
                .with_hint("look whether `server.acme.eab_key_id` and `server.acme.eab_key` are of this authority"),
            false => failure,
        }
    })?;
    let (directory, contact) = (options.directory.clone(), options.contact.clone());
    let kept = Kept { directory, contact, certificate_of, credentials };
    kept.write(file).map_err(|error| Failure::of_file(&error))?;
    Ok(account)
}

fn addresses(contact: &[String]) -> Vec<String> {
    contact.iter().map(|address| format!("mailto:{}", address.trim_start_matches("mailto:"))).collect()
}

fn external(eab: &Eab) -> Result<ExternalAccountKey, Failure> {
    let key = key_bytes(&eab.key).ok_or_else(|| {
        Failure::new(format!("{MAKING}: the key of `server.acme.eab_key` is not base64url"))
            .with_hint("write the key as the authority shows it, on one line")
    })?;
    Ok(ExternalAccountKey::new(eab.key_id.clone(), &key))
}

/// The bytes of a key in base64url (RFC 8555 7.3.4), or in base64, as some authorities show it.
pub(super) fn key_bytes(key: &Secret) -> Option<Vec<u8>> {
    let text = key.expose().trim().trim_end_matches('=').replace('+', "-").replace('/', "_");
    BASE64URL_NOPAD.decode(text.as_bytes()).ok().filter(|bytes| !bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_in_each_form_that_authorities_show() {
        let bytes = |text: &str| key_bytes(&Secret::new(text.to_owned()));
        let expected = Some(vec![0xfb, 0xff, 0xfe, 0x01]);
        for text in ["-__-AQ", "-__-AQ==", "+//+AQ==", " -__-AQ\n"] {
            assert_eq!(bytes(text), expected, "{text}");
        }
        for wrong in ["", "=", "a b", "hush hush!"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_contact_is_a_mail_address_with_or_without_its_scheme() {
        let given = ["a@example.org".to_owned(), "mailto:b@example.org".to_owned()];
        assert_eq!(addresses(&given), ["mailto:a@example.org", "mailto:b@example.org"]);
    }
}
