//! What the settings of repositories refer to: variables of the environment as it was at the start, and files.

use client::Secret;
use repository::BadSetting;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::sync::Arc;

/// Longest secret in a file, in bytes.
const SECRET_MAX_BYTES: u64 = 16 << 10;
/// Longest PEM file, in bytes: twice what all public authorities together take.
const PEM_MAX_BYTES: u64 = 1 << 20;
/// What a block of a PEM file begins with (RFC 7468).
const BLOCK: &[u8] = b"-----BEGIN ";

/// Reads secrets and certificates. Daylight's own variables are not for others: a setting cannot send them anywhere.
#[derive(Clone, Default)]
pub struct References {
    variables: Arc<BTreeMap<String, String>>,
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("References")
    }
}

impl References {
    pub(super) fn new(variables: BTreeMap<String, String>) -> Self {
        Self { variables: Arc::new(variables) }
    }

    fn variable(&self, name: &str) -> Result<Secret, BadSetting> {
        let found = self.variables.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        found.map(Secret::new).ok_or_else(|| {
            let text = format!("`env:{name}`: the server's environment has no variable `{name}`, or an empty one");
            BadSetting::new(text, "set it where the server is started, and start it again")
        })
    }
}

impl repository::References for References {
    fn secret(&self, reference: &str) -> Result<Secret, BadSetting> {
        match reference.split_once(':') {
            Some(("env", name)) => self.variable(name),
            Some(("file", path)) => {
                let bytes = read(path, SECRET_MAX_BYTES)?;
                let text = String::from_utf8(bytes).unwrap_or_default();
                let text = text.trim();
                let one_line = !text.is_empty() && !text.contains(|c: char| c.is_control());
                one_line.then(|| Secret::new(text.to_owned())).ok_or_else(|| {
                    BadSetting::new(format!("`{path}` is not one line of text"), "`user:password` or a token")
                })
            }
            _ => Err(BadSetting::new("credentials are not given by what they are", "`env:NAME` or `file:PATH`")),
        }
    }

    fn pem(&self, path: &str) -> Result<Vec<u8>, BadSetting> {
        let bytes = read(path, PEM_MAX_BYTES)?;
        if bytes.windows(BLOCK.len()).any(|window| window == BLOCK) {
            return Ok(bytes);
        }
        Err(BadSetting::new(format!("`{path}` is no PEM file"), "it has lines such as `-----BEGIN CERTIFICATE-----`"))
    }
}

fn read(path: &str, limit: u64) -> Result<Vec<u8>, BadSetting> {
    let refused = |why: String| {
        BadSetting::new(format!("cannot read `{path}`: {why}"), "the server reads it, as the user it runs as")
    };
    let file = std::fs::File::open(path).map_err(|error| refused(error.to_string()))?;
    // A pipe or a device may never end, or never begin.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(refused("it is no file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| refused(error.to_string()))?;
    if bytes.len() as u64 > limit {
        return Err(refused(format!("it is larger than {} KiB", limit >> 10)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use repository::References as _;

    fn file(text: &str) -> (tempfile::NamedTempFile, String) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let path = file.path().to_str().unwrap().to_owned();
        (file, path)
    }

    fn references() -> References {
        References::new([("TOKEN".to_owned(), " hush \n".to_owned()), ("EMPTY".to_owned(), String::new())].into())
    }

    #[test]
    fn a_secret_is_read_without_what_ends_its_line_and_never_printed() {
        let secret = |reference: &str| references().secret(reference).map(|secret| secret.expose().to_owned());
        assert_eq!(secret("env:TOKEN").unwrap(), "hush");
        let (_kept, path) = file("user:hush hush\n");
        assert_eq!(secret(&format!("file:{path}")).unwrap(), "user:hush hush");
        let (_kept, two) = file("a\nb\n");
        let (_kept, none) = file("\n");
        for wrong in
            ["env:OTHER", "env:EMPTY", "env:", "file:/nowhere/x", &format!("file:{two}"), &format!("file:{none}")]
        {
            assert!(!secret(wrong).unwrap_err().hint().is_empty(), "{wrong}");
        }
        assert!(!format!("{:?}", references()).contains("hush"));
    }

    #[test]
    fn what_is_no_certificate_is_told_at_once() {
        let (_kept, good) = file("a comment\n-----BEGIN CERTIFICATE-----\n");
        assert!(references().pem(&good).is_ok());
        let (_kept, odd) = file("a certificate, later\n");
        assert_eq!(references().pem(&odd).unwrap_err().to_string(), format!("`{odd}` is no PEM file"));
        let large = "x".repeat(2 << 20);
        let (_kept, large) = file(&large);
        for wrong in ["/nowhere/x", "/", &large] {
            let error = references().pem(wrong).unwrap_err();
            assert!(error.to_string().starts_with(&format!("cannot read `{wrong}`: ")), "{error}");
        }
    }
}
