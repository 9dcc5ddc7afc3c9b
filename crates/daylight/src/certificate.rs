//! The files of the certificate, read at the start and again when they change: certificates are renewed every few weeks,
//! and nobody restarts a server for that.

use crate::config::Settings;
use anyhow::Context;
use front::Tls;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use telemetry::Log;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(10);
/// Far above any chain of certificates.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// Two files and what was last read in them.
#[derive(Debug)]
pub(crate) struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    last: Mutex<Last>,
    tls: Arc<Tls>,
}

/// What was found at the last look.
#[derive(Debug)]
struct Last {
    contents: Contents,
    /// It was not usable, which has been said.
    complained: bool,
}

/// The text of both files. The key is a secret, so this prints nothing.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Contents")
    }
}

impl Certificate {
    /// Reads the files, where the settings name them.
    pub(crate) fn open(settings: &Settings) -> anyhow::Result<Option<Arc<Self>>> {
        let (certificate, key) = (settings.server.tls_certificate.clone(), settings.server.tls_key.clone());
        if certificate.as_os_str().is_empty() {
            return Ok(None);
        }
        let contents = Contents::read(&certificate, &key)?;
        let tls = Tls::new(&contents.certificate, &contents.key)?;
        Ok(Some(Arc::new(Self { certificate, key, last: Mutex::new(Last { contents, complained: false }), tls })))
    }

    pub(crate) fn tls(&self) -> Arc<Tls> {
        self.tls.clone()
    }

    /// Looks at the files now and then, for as long as the runtime lives.
    pub(crate) async fn watch(self: Arc<Self>, log: Log) {
        loop {
            tokio::time::sleep(EVERY).await;
            self.refresh(&log);
        }
    }

    /// Shows the certificate that is in the files now. What cannot be used is said once, and the one before stays: the
    /// files may be halfway through their renewal.
    pub(crate) fn refresh(&self, log: &Log) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match Contents::read(&self.certificate, &self.key) {
            Ok(now) if now == last.contents => return,
            Ok(now) => {
                *last = Last { contents: now, complained: false };
                self.tls.replace(&last.contents.certificate, &last.contents.key).map_err(anyhow::Error::from)
            }
            Err(error) => Err(error),
        };
        match changed {
            Ok(()) => log.info("showing another certificate", &[("file", &self.certificate.display())]),
            Err(error) if !last.complained => {
                last.complained = true;
                log.warn("keeping the certificate", &[("cause", &format!("{error:#}"))]);
            }
            Err(_) => {}
        }
    }
}

impl Contents {
    fn read(certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        Ok(Self { certificate: read(certificate)?, key: read(key)? })
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| std::io::Read::read_to_end(&mut std::io::Read::take(file, FILE_MAX_BYTES), &mut bytes))
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(bytes)
}
