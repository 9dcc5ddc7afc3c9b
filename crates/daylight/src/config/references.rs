//! Resolves the references in the settings of repositories: variables of the environment at the start, and files.

use client::Secret;
use repository::BadSetting;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Longest secret in a file, in bytes.
const SECRET_MAX_BYTES: u64 = 16 << 10;
/// Longest PEM file, in bytes: twice the size of all public authorities together.
const PEM_MAX_BYTES: u64 = 1 << 20;
/// The beginning of a block in a PEM file (RFC 7468).
const BLOCK: &[u8] = b"-----BEGIN ";

/// Reads secrets and certificates. Daylight's own variables are not among them, so no setting can send them anywhere.
#[derive(Clone, Default)]
pub struct References {
    variables: Arc<BTreeMap<String, String>>,
    /// The references that the API may use; `None`: none.
    api: Option<ApiReferences>,
}

#[derive(Clone)]
struct ApiReferences {
    /// The prefix of variables.
    prefix: String,
    /// The folder of files.
    folder: PathBuf,
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("References")
    }
}

impl References {
    pub(super) fn new(variables: BTreeMap<String, String>) -> Self {
        Self { variables: Arc::new(variables), api: None }
    }

    /// Lets the API use variables with this prefix, and the files of this folder.
    pub(super) fn allow_api(self, prefix: String, folder: PathBuf) -> Self {
        Self { api: Some(ApiReferences { prefix, folder }), ..self }
    }

    /// Refuses a reference that the API may not use. The secret behind a reference is sent to a host that the caller chooses, so the
    /// operator of the server decides which secrets are meant for that.
    pub(crate) fn check_api(&self, setting: &str, reference: &str) -> Result<(), BadSetting> {
        let Some(ApiReferences { prefix, folder }) = &self.api else {
            let text = format!("`{setting}`: the API may not name credentials");
            return Err(BadSetting::new(text, "declare the repository in the configuration file"));
        };
        let path = match reference.split_once(':') {
            Some(("env", name)) if name.starts_with(prefix) => return Ok(()),
            Some(("env", _)) => {
                let text = format!("`{setting}`: the API may only name variables that begin with `{prefix}`");
                let hint = "`upstream.credentials_prefix` sets the prefix; a `[[repository]]` of the configuration file may name any variable";
                return Err(BadSetting::new(text, hint));
            }
            Some(("file", path)) => path,
            // Files with certificates are named by their path alone.
            _ if reference.starts_with('/') => reference,
            _ => {
                let text = format!("`{setting}`: this is not a reference to a variable or a file of the server");
                let hint = "write `env:NAME` or `file:/PATH` for a secret, never the secret itself, and `/PATH` for certificates";
                return Err(BadSetting::new(text, hint));
            }
        };
        let path = Path::new(path);
        // Links in the folder are followed: the operator made them.
        if path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir) {
            return Ok(());
        }
        let text = format!("`{setting}`: the API may only name files in `{}`", folder.display());
        let hint = "`upstream.credentials_folder` sets the folder; a `[[repository]]` of the configuration file may name any file";
        Err(BadSetting::new(text, hint))
    }

    /// The variables with these names that are set.
    pub(crate) fn variables<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
        names.iter().filter_map(|name| Some((*name, self.variables.get(*name)?.as_str())))
    }

    fn variable(&self, name: &str) -> Result<Secret, BadSetting> {
        let found = self.variables.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        found.map(Secret::new).ok_or_else(|| {
            let text =
                format!("`env:{name}`: the variable `{name}` is not set or empty in the environment of the server");
            BadSetting::new(text, "set it in the environment of the server and restart the server")
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
                    BadSetting::new(
                        format!("`{path}` is not one line of text"),
                        "the file must contain `user:password` or a token",
                    )
                })
            }
            _ => Err(BadSetting::new(
                "credentials are a reference, never the secret itself",
                "write `env:NAME` or `file:PATH`",
            )),
        }
    }

    fn pem(&self, path: &str) -> Result<Vec<u8>, BadSetting> {
        let bytes = read(path, PEM_MAX_BYTES)?;
        if bytes.windows(BLOCK.len()).any(|window| window == BLOCK) {
            return Ok(bytes);
        }
        Err(BadSetting::new(
            format!("`{path}` is not a PEM file"),
            "a PEM file has lines such as `-----BEGIN CERTIFICATE-----`",
        ))
    }
}

fn read(path: &str, limit: u64) -> Result<Vec<u8>, BadSetting> {
    let refused = |why: String| {
        BadSetting::new(
            format!("cannot read `{path}`: {why}"),
            "the server must be able to read it, as the user that it runs as",
        )
    };
    // Reading a pipe or a device may never end, and even opening a pipe may wait for its other end.
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty());
    let file = File::from(opened.map_err(|error| refused(std::io::Error::from(error).to_string()))?);
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(refused("it is not a file".to_owned()));
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
    fn a_secret_is_read_without_its_line_break_and_never_printed() {
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
    fn the_api_uses_only_references_that_are_meant_for_upstreams() {
        let api = Some(ApiReferences { prefix: "UPSTREAM_".into(), folder: "/run/secrets".into() });
        let references = References { api, ..references() };
        let check = |reference: &str| references.check_api("remote.credentials", reference);
        for good in ["env:UPSTREAM_TOKEN", "file:/run/secrets/a/b", "/run/secrets/a.pem"] {
            check(good).unwrap();
        }
        for other in ["env:TOKEN", "env:", "env:AN_UPSTREAM_TOKEN"] {
            assert!(check(other).unwrap_err().to_string().ends_with("begin with `UPSTREAM_`"), "{other}");
        }
        for other in
            ["file:/etc/shadow", "/run/secrets2/a", "file:/run/secrets/../../etc/shadow", "/etc/ssl/a.pem", "file:a"]
        {
            assert!(check(other).unwrap_err().to_string().ends_with("files in `/run/secrets`"), "{other}");
        }
        // Somebody gave the secret itself.
        for other in ["hush", "token:hush", "ENV:UPSTREAM_TOKEN"] {
            let refused = check(other).unwrap_err();
            assert!(refused.hint().contains("`env:NAME` or `file:/PATH`"), "{other}");
            assert!(!refused.to_string().contains(other), "{other}");
        }
    }

    #[test]
    fn a_pipe_without_a_writer_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let error = references().pem(pipe.to_str().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("it is not a file"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_certificate_is_refused_at_once() {
        let (_kept, good) = file("a comment\n-----BEGIN CERTIFICATE-----\n");
        assert!(references().pem(&good).is_ok());
        let (_kept, odd) = file("a certificate, later\n");
        assert_eq!(references().pem(&odd).unwrap_err().to_string(), format!("`{odd}` is not a PEM file"));
        let large = "x".repeat(2 << 20);
        let (_kept, large) = file(&large);
        for wrong in ["/nowhere/x", "/", &large] {
            let error = references().pem(wrong).unwrap_err();
            assert!(error.to_string().starts_with(&format!("cannot read `{wrong}`: ")), "{error}");
        }
    }
}
