//! Files that an application has sent from declared folders (`X-Sendfile`, `X-Accel-Redirect`).
//!
//! Without declared folders both headers are passed on as they are: a server in front of this one may be the one that acts on them.

use crate::options::{AppOptions, BadApp};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tokio::task::spawn_blocking;

/// Asks an application to name files.
pub(crate) const X_SENDFILE_TYPE: HeaderName = HeaderName::from_static("x-sendfile-type");
/// Tells an application the URLs of folders.
pub(crate) const X_ACCEL_MAPPING: HeaderName = HeaderName::from_static("x-accel-mapping");
const X_SENDFILE: HeaderName = HeaderName::from_static("x-sendfile");
const X_ACCEL_REDIRECT: HeaderName = HeaderName::from_static("x-accel-redirect");

/// The folders whose files an application may have sent.
#[derive(Debug)]
pub(crate) struct Roots {
    all: Vec<Root>,
    request_headers: Vec<(HeaderName, HeaderValue)>,
}

#[derive(Debug, Clone)]
struct Root {
    /// What `X-Accel-Redirect` begins with, with a `/` at its end.
    uri: Option<String>,
    folder: PathBuf,
}

/// A file that an application named.
#[derive(Debug)]
pub(crate) enum Named {
    /// By its path.
    Path(PathBuf),
    /// By a URL.
    Uri(Vec<u8>),
}

/// An open file that an application named.
#[derive(Debug)]
pub(crate) struct SentFile {
    /// The file.
    pub(crate) file: File,
    /// Its length.
    pub(crate) len: u64,
    modified: Option<SystemTime>,
}

/// A file that is not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSent {
    /// It is in none of the folders.
    #[error("the application named a file outside of its `sendfile_roots`")]
    Outside,
    /// It cannot be opened below its folder.
    #[error("the file that the application named cannot be sent: {0}")]
    Unopened(io::Error),
    /// It is a folder, a device or a pipe.
    #[error("the application named something that is no regular file")]
    NoFile,
}

impl Roots {
    /// Reads the settings: `/FOLDER` or `URI=/FOLDER`.
    pub(crate) fn new(options: &AppOptions) -> Result<Self, BadApp> {
        let bad = |what: String| BadApp {
            app: options.name.clone(),
            what,
            hint: "write `/FOLDER`, or `/URI=/FOLDER` for `X-Accel-Redirect: /URI/...`",
        };
        let read = |setting: &String| {
            let (uri, folder) =
                setting.split_once('=').map_or((None, setting.as_str()), |(uri, folder)| (Some(uri), folder));
            if !folder.starts_with('/') || uri.is_some_and(|uri| !uri.starts_with('/')) {
                return Err(bad(format!("`{setting}` in `sendfile_roots` is not absolute")));
            }
            let uri = uri.map(|uri| format!("{}/", uri.trim_end_matches('/')));
            Ok(Root { uri, folder: PathBuf::from(folder) })
        };
        let all = options.sendfile_roots.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut request_headers = Vec::new();
        if !all.is_empty() {
            request_headers.push((X_SENDFILE_TYPE, HeaderValue::from_static("X-Sendfile")));
        }
        let mapped: Vec<String> = all
            .iter()
            .filter_map(|root| {
                Some(format!("{}/={}", root.folder.display().to_string().trim_end_matches('/'), root.uri.as_ref()?))
            })
            .collect();
        if !mapped.is_empty() {
            let mapping = HeaderValue::from_str(&mapped.join(","))
                .map_err(|_| bad("a name in `sendfile_roots` has a control character".to_owned()))?;
            request_headers.push((X_ACCEL_MAPPING, mapping));
        }
        Ok(Self { all, request_headers })
    }

    /// The headers that offer to send files.
    pub(crate) fn request_headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.request_headers
    }

    /// Takes the name of a file off the headers of a response.
    pub(crate) fn named(&self, headers: &mut HeaderMap) -> Option<Named> {
        if self.all.is_empty() {
            return None;
        }
        let (path, uri) = (headers.remove(X_SENDFILE), headers.remove(X_ACCEL_REDIRECT));
        let path = path.map(|path| Named::Path(OsString::from_vec(path.as_bytes().to_vec()).into()));
        path.or_else(|| uri.map(|uri| Named::Uri(uri.as_bytes().to_vec())))
    }

    /// Opens a file, on a thread that may wait for a disk.
    pub(crate) async fn open(&self, named: Named) -> Result<SentFile, NotSent> {
        let roots = self.all.clone();
        let opened = spawn_blocking(move || {
            let (folder, below) = match named {
                Named::Path(path) => of_path(&roots, &path),
                Named::Uri(uri) => of_uri(&roots, &uri),
            }
            .ok_or(NotSent::Outside)?;
            open_below(&folder, &below)
        });
        opened.await.unwrap_or_else(|failed| Err(NotSent::Unopened(io::Error::other(failed))))
    }
}

/// The folder of a path, and the path below it. An application may name the folder itself by a link to it, as `current` of a deployment.
fn of_path(roots: &[Root], path: &Path) -> Option<(PathBuf, PathBuf)> {
    roots.iter().find_map(|root| {
        let by_name = path.strip_prefix(&root.folder).map(Path::to_owned);
        let below = by_name.or_else(|_| {
            let folder = std::fs::canonicalize(&root.folder).unwrap_or_else(|_| root.folder.clone());
            path.strip_prefix(folder).map(Path::to_owned)
        });
        Some((root.folder.clone(), below.ok()?))
    })
}

/// The folder of a URL, and the path below it.
fn of_uri(roots: &[Root], uri: &[u8]) -> Option<(PathBuf, PathBuf)> {
    let path = decoded(uri.split(|byte| *byte == b'?').next().unwrap_or_default())?;
    roots.iter().find_map(|root| {
        let below = path.strip_prefix(root.uri.as_ref()?.as_bytes())?;
        Some((root.folder.clone(), std::ffi::OsStr::from_bytes(below).into()))
    })
}

/// Decodes `%XX`: applications escape the path of `X-Accel-Redirect`.
fn decoded(uri: &[u8]) -> Option<Vec<u8>> {
    let (mut path, mut rest) = (Vec::with_capacity(uri.len()), uri);
    while let [byte, after @ ..] = rest {
        (rest, path) = match (byte, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |digit: &u8| char::from(*digit).to_digit(16);
                path.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
                (after, path)
            }
            (b'%', _) => return None,
            _ => {
                path.push(*byte);
                (after, path)
            }
        };
    }
    Some(path)
}

/// Opens a regular file below a folder. The kernel follows no link and no `..` out of the folder.
fn open_below(folder: &Path, below: &Path) -> Result<SentFile, NotSent> {
    let unopened = |error: rustix::io::Errno| NotSent::Unopened(error.into());
    let folder =
        openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(unopened)?;
    // Opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let file: File = openat2(&folder, below, flags, Mode::empty(), resolve).map_err(unopened)?.into();
    let facts = file.metadata().map_err(NotSent::Unopened)?;
    if !facts.is_file() {
        return Err(NotSent::NoFile);
    }
    Ok(SentFile { file, len: facts.len(), modified: facts.modified().ok() })
}

impl SentFile {
    /// `Last-Modified`, from the file.
    pub(crate) fn last_modified(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&httpdate::fmt_http_date(self.modified?)).ok()
    }
}

#[cfg(test)]
mod tests;
