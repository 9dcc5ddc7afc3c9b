//! What the settings of repositories refer to: variables of the environment as it was at the start, and files.

use super::Upstream;
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
/// Longest PEM file, in bytes: twice what all public authorities together take.
const PEM_MAX_BYTES: u64 = 1 << 20;
/// What a block of a PEM file begins with (RFC 7468).
const BLOCK: &[u8] = b"-----BEGIN ";

/// Reads secrets and certificates. Daylight's own variables are not for others: a setting cannot send them anywhere.
#[derive(Clone, Default)]
pub struct References {
    variables: Arc<BTreeMap<String, String>>,
    /// What the API may name; `None`: nothing.
    open: Option<Open>,
}

#[derive(Clone)]
struct Open {
    /// What names of variables begin with.
    prefix: String,
    /// Where files are.
    folder: PathBuf,
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("References")
    }
}

impl References {
    pub(super) fn new(variables: BTreeMap<String, String>) -> Self {
        Self { variables: Arc::new(variables), open: None }
    }

    /// Says which of them may be named through the API.
    pub(super) fn open_to_api(self, upstream: &Upstream) -> Self {
        let (prefix, folder) = (upstream.credentials_prefix.0.clone(), upstream.credentials_folder.clone());
        Self { open: Some(Open { prefix, folder }), ..self }
    }

    /// Refuses what may not be named through the API: what a variable or a file holds is sent to a host that the caller
    /// chooses, so it is for whoever runs the server to say which are meant for that.
    pub(crate) fn may_be_named(&self, setting: &str, reference: &str) -> Result<(), BadSetting> {
        let Some(Open { prefix, folder }) = &self.open else {
            let text = format!("`remote.{setting}`: the API names no credentials");
            return Err(BadSetting::new(text, "declare the repository in the configuration file"));
        };
        let path = match reference.split_once(':') {
            Some(("env", name)) if name.starts_with(prefix) => return Ok(()),
            Some(("env", _)) => {
                let text = format!("`remote.{setting}`: the API names variables that begin with `{prefix}`");
                let hint =
                    "`upstream.credentials_prefix` says so; a `[[repository]]` of the configuration file may name any";
                return Err(BadSetting::new(text, hint));
            }
            Some(("file", path)) => path,
            _ => reference,
        };
        let path = Path::new(path);
        // A link in the folder leads where whoever made it wants it to.
        if path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir) {
            return Ok(());
        }
        let text = format!("`remote.{setting}`: the API names files in `{}`", folder.display());
        let hint = "`upstream.credentials_folder` says so; a `[[repository]]` of the configuration file may name any";
        Err(BadSetting::new(text, hint))
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
    // A pipe or a device may never end, or never begin: opening one must not wait for its other end either.
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty());
    let file = File::from(opened.map_err(|error| refused(std::io::Error::from(error).to_string()))?);
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
    fn the_api_names_what_is_meant_for_upstreams_and_nothing_else() {
        let open = Some(Open { prefix: "UPSTREAM_".into(), folder: "/run/secrets".into() });
        let references = References { open, ..references() };
        let named = |reference: &str| references.may_be_named("credentials", reference);
        for good in ["env:UPSTREAM_TOKEN", "file:/run/secrets/a/b", "/run/secrets/a.pem"] {
            named(good).unwrap();
        }
        for other in ["env:TOKEN", "env:", "env:AN_UPSTREAM_TOKEN"] {
            assert!(named(other).unwrap_err().to_string().ends_with("begin with `UPSTREAM_`"), "{other}");
        }
        for other in
            ["file:/etc/shadow", "/run/secrets2/a", "file:/run/secrets/../../etc/shadow", "/etc/ssl/a.pem", "a"]
        {
            assert!(named(other).unwrap_err().to_string().ends_with("files in `/run/secrets`"), "{other}");
        }
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let error = references().pem(pipe.to_str().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("it is no file"), "{error}");
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
