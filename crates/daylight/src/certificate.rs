//! Reads the certificate at the start, and again when its files change: certificates are renewed every few weeks, without a restart.

use crate::config::Settings;
use anyhow::Context;
use client::Validity;
use front::Tls;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use telemetry::{By, Clock, Log, Metric, Millis, Recorder};

/// How often the files are read.
const EVERY: Duration = Duration::from_secs(10);
/// Maximum size of each file, far more than any chain of certificates needs.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A certificate expires soon when less than two weeks remain, in milliseconds...
const SOON: i64 = 14 * 86_400_000;
/// ... or less than this part of its lifetime, if that is shorter.
const SOON_PART: i64 = 3;

/// The certificate that is in use, and its files.
#[derive(Debug)]
pub(crate) struct Certificate {
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
    /// When it expires, in milliseconds since 1970; 0 if that is unknown.
    expires: AtomicI64,
    tls: Arc<Tls>,
}

/// The result of the last read.
#[derive(Debug)]
struct Current {
    files: PemFiles,
    /// Whether the log has a warning that the files cannot be used.
    warned: bool,
    /// The expiry that the log has.
    expiry: Expiry,
}

/// How soon a certificate expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expiry {
    Later,
    Soon,
    Expired,
}

impl Expiry {
    fn at(now: Millis, validity: Validity) -> Self {
        let left = validity.ends.0.saturating_sub(now.0);
        match SOON.min(validity.ends.0.saturating_sub(validity.begins.0) / SOON_PART) {
            _ if left <= 0 => Self::Expired,
            soon if left < soon => Self::Soon,
            _ => Self::Later,
        }
    }
}

/// The contents of both files. The key is a secret, so `Debug` prints nothing.
#[derive(PartialEq, Eq)]
struct PemFiles {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for PemFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PemFiles")
    }
}

impl Certificate {
    /// Reads the files, where the settings name them.
    pub(crate) fn open(settings: &Settings) -> anyhow::Result<Option<Arc<Self>>> {
        let (certificate, key) = (settings.server.tls_certificate.clone(), settings.server.tls_key.clone());
        if certificate.as_os_str().is_empty() {
            return Ok(None);
        }
        let files = PemFiles::read(&certificate, &key)?;
        let tls = Tls::new(&files.certificate, &files.key)?;
        let expires = expires(&files);
        Ok(Some(Arc::new(Self {
            certificate,
            key,
            current: Mutex::new(Current { files, warned: false, expiry: Expiry::Later }),
            expires: AtomicI64::new(expires),
            tls,
        })))
    }

    /// Adds the expiry to the metrics.
    pub(crate) fn show_in_metrics(self: &Arc<Self>, recorder: &Recorder) {
        let doc = "When a certificate that this server shows expires, in seconds since 1970";
        let metric = Metric::gauge("certificate_expiry_timestamp_seconds", doc);
        let certificate = self.clone();
        recorder.figures(metric, By::Label("certificate"), move || {
            let expires = Some(certificate.expires.load(Ordering::Relaxed)).filter(|expires| *expires != 0);
            expires.map(|expires| ("server".to_owned(), expires as f64 / 1e3)).into_iter().collect()
        });
    }

    pub(crate) fn tls(&self) -> Arc<Tls> {
        self.tls.clone()
    }

    /// Reads the files regularly, as long as the runtime lives.
    pub(crate) async fn watch(self: Arc<Self>, log: Log, clock: Clock) {
        loop {
            self.log_expiry(&log, clock.now());
            tokio::time::sleep(EVERY).await;
            self.refresh(&log);
        }
    }

    /// Logs each change of the expiry: that the certificate expires soon, has expired, or was renewed.
    fn log_expiry(&self, log: &Log, now: Millis) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(validity) = Validity::read(&current.files.certificate) else { return };
        let expiry = Expiry::at(now, validity);
        if expiry == std::mem::replace(&mut current.expiry, expiry) {
            return;
        }
        let fields: [(&str, &dyn std::fmt::Display); 2] =
            [("file", &self.certificate.display()), ("ends", &validity.ends)];
        match expiry {
            Expiry::Expired => log.error("the TLS certificate has expired: clients refuse it", &fields),
            Expiry::Soon => log.warn("the TLS certificate expires soon: renew it", &fields),
            Expiry::Later => log.info("the TLS certificate is valid again", &fields),
        }
    }

    /// Uses the certificate that is in the files now. If it cannot be used, the log says so once, and the former certificate stays: the
    /// renewal of the files may not be complete.
    pub(crate) fn refresh(&self, log: &Log) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match PemFiles::read(&self.certificate, &self.key) {
            Ok(now) if now == current.files => return,
            Ok(now) => {
                *current = Current { files: now, warned: false, expiry: current.expiry };
                self.expires.store(expires(&current.files), Ordering::Relaxed);
                self.tls.replace(&current.files.certificate, &current.files.key).map_err(anyhow::Error::from)
            }
            Err(error) => Err(error),
        };
        match changed {
            Ok(()) => log.info("using a new TLS certificate", &[("file", &self.certificate.display())]),
            Err(error) if !current.warned => {
                current.warned = true;
                log.warn(
                    "keeping the TLS certificate in use, because the new one cannot be used",
                    &[("cause", &format!("{error:#}"))],
                );
            }
            Err(_) => {}
        }
    }
}

fn expires(files: &PemFiles) -> i64 {
    Validity::read(&files.certificate).map_or(0, |validity| validity.ends.0)
}

impl PemFiles {
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

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    #[test]
    fn a_certificate_expires_soon_in_its_last_two_weeks_or_the_last_third_of_a_short_lifetime() {
        let at = |lifetime: i64, day: i64| {
            Expiry::at(Millis(day * DAY), Validity { begins: Millis(0), ends: Millis(lifetime * DAY) })
        };
        assert_eq!([0, 75, 76, 77, 89, 90, 500].map(|day| at(90, day)), {
            use Expiry::{Expired, Later, Soon};
            [Later, Later, Later, Soon, Soon, Expired, Expired]
        });
        assert_eq!([3, 4, 5, 6].map(|day| at(6, day)), [Expiry::Later, Expiry::Later, Expiry::Soon, Expiry::Expired]);
    }
}
