//! Reads the certificate at the start, and again when its files change: certificates are renewed every few weeks, without a restart.

use crate::config::Settings;
use crate::health::reason::ReadyReason;
use anyhow::Context;
use client::Validity;
use front::Tls;
use insight::CertificateFact;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::{By, Clock, Log, LongJob, Metric, Millis, Recorder, lock};

/// How often the files are read.
pub(crate) const EVERY: Duration = Duration::from_secs(10);
/// The name of the certificate of the server's own address.
pub(crate) const OWN: &str = "server";
/// Maximum size of each file, far more than any chain of certificates needs.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A certificate expires soon when less than two weeks remain, in milliseconds...
const SOON: i64 = 14 * 86_400_000;
/// ... or less than this part of its lifetime, if that is shorter.
const SOON_PART: i64 = 3;

/// The certificate that is in use, and its files.
#[derive(Debug)]
pub(crate) struct Certificate {
    name: String,
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
    /// Held while both files change, so that nobody takes one of each pair.
    changing: Mutex<()>,
    tls: Arc<Tls>,
}

/// The certificate in use, and the result of the last read.
#[derive(Debug)]
struct Current {
    in_use: PemFiles,
    /// The validity of the certificate in use. `None`: it cannot be read.
    validity: Option<Validity>,
    /// Why the present files cannot be used. `None`: they are in use.
    refused: Option<String>,
    /// The expiry that the log has.
    expiry: Expiry,
    /// It is made by this server, and only there until the files have one.
    is_placeholder: bool,
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
pub(crate) struct PemFiles {
    /// The certificate with its chain.
    pub(crate) certificate: Vec<u8>,
    /// Its key.
    pub(crate) key: Vec<u8>,
}

impl std::fmt::Debug for PemFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PemFiles")
    }
}

/// Reads the files of the certificates regularly, as long as the runtime lives.
pub(crate) async fn watch(certificates: Vec<Arc<Certificate>>, log: Log, clock: Clock, job: Arc<LongJob>) {
    loop {
        job.moved();
        certificates.iter().for_each(|certificate| certificate.log_expiry(&log, clock.now()));
        tokio::time::sleep(EVERY).await;
        certificates.iter().for_each(|certificate| certificate.refresh(&log, clock.now()));
    }
}

impl Certificate {
    /// The certificate of the server's own address, where the settings name one.
    pub(crate) fn of_server(settings: &Settings) -> anyhow::Result<Option<Arc<Self>>> {
        let (certificate, key) = (settings.server.tls_certificate.clone(), settings.server.tls_key.clone());
        if certificate.as_os_str().is_empty() {
            return Ok(None);
        }
        Self::open(OWN.to_owned(), certificate, key).map(Some)
    }

    /// Reads the files. `name` tells the certificates of a server apart in its metrics.
    pub(crate) fn open(name: String, certificate: PathBuf, key: PathBuf) -> anyhow::Result<Arc<Self>> {
        let files = PemFiles::read(&certificate, &key)?;
        let tls = Tls::new(&files.certificate, &files.key)?;
        let validity = Validity::read(&files.certificate);
        let current = Current { in_use: files, validity, refused: None, expiry: Expiry::Later, is_placeholder: false };
        let (current, changing) = (Mutex::new(current), Mutex::default());
        Ok(Arc::new(Self { name, certificate, key, current, changing, tls }))
    }

    /// Reads the files if they can be used. Until they can be, the placeholder is shown, which is in no file.
    pub(crate) fn open_or(
        name: String,
        certificate: PathBuf,
        key: PathBuf,
        placeholder: PemFiles,
    ) -> anyhow::Result<Arc<Self>> {
        if let Ok(opened) = Self::open(name.clone(), certificate.clone(), key.clone()) {
            return Ok(opened);
        }
        let tls = Tls::new(&placeholder.certificate, &placeholder.key)?;
        let current =
            Current { in_use: placeholder, validity: None, refused: None, expiry: Expiry::Later, is_placeholder: true };
        let (current, changing) = (Mutex::new(current), Mutex::default());
        Ok(Arc::new(Self { name, certificate, key, current, changing, tls }))
    }

    /// The faults of the certificate now, in words for anybody.
    pub(crate) fn faults(&self, now: Millis) -> Vec<String> {
        let current = lock(&self.current);
        let ended = current.validity.map(|validity| validity.ends).filter(|ends| *ends < now);
        let ended = ended.map(|ends| format!("{} on {ends}: clients refuse it", ReadyReason::Expired.as_str()));
        let refused = current.refused.as_ref().map(|_| {
            format!("{}, and the former one stays in use: the log says why", ReadyReason::Certificate.as_str())
        });
        let awaited = current.is_placeholder.then(|| {
            format!("{}: the authority has given none yet, and clients refuse it", ReadyReason::Placeholder.as_str())
        });
        ended.into_iter().chain(refused).chain(awaited).collect()
    }

    /// The validity of the certificate in use. `None`: it is a placeholder, or cannot be read.
    pub(crate) fn validity(&self) -> Option<Validity> {
        lock(&self.current).validity
    }

    /// Whether the certificate in use is none that clients could trust.
    pub(crate) fn is_placeholder(&self) -> bool {
        lock(&self.current).is_placeholder
    }

    /// Whether the certificate in use is for this name. A placeholder is for none.
    pub(crate) fn is_for(&self, name: &str) -> bool {
        let current = lock(&self.current);
        !current.is_placeholder && client::is_for(&current.in_use.certificate, name)
    }

    /// Writes new files, and uses them at once.
    pub(crate) fn change(
        &self,
        write: impl FnOnce() -> std::io::Result<()>,
        log: &Log,
        now: Millis,
    ) -> anyhow::Result<()> {
        let _changing = lock(&self.changing);
        let written = write();
        self.take(log, now);
        written.with_context(|| format!("cannot write `{}` and its key", self.certificate.display()))?;
        lock(&self.current).refused.as_ref().map_or(Ok(()), |cause| Err(anyhow::anyhow!("{cause}")))
    }

    /// The certificate in use, for findings. `None`: its validity cannot be read.
    pub(crate) fn fact(&self) -> Option<CertificateFact> {
        let current = lock(&self.current);
        let Validity { begins, ends } = current.validity?;
        let is_refused = current.refused.is_some();
        Some(CertificateFact { name: self.name.clone(), is_of_upstream: false, begins: Some(begins), ends, is_refused })
    }

    pub(crate) fn tls(&self) -> Arc<Tls> {
        self.tls.clone()
    }

    /// Logs each change of the expiry: that the certificate expires soon, has expired, or was renewed.
    fn log_expiry(&self, log: &Log, now: Millis) {
        let mut current = lock(&self.current);
        let Some(validity) = current.validity else { return };
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

    /// Uses the certificate that is in the files now. If it cannot be used, or is not valid while the one in use is, the former certificate
    /// stays, and the log says each reason once: the renewal of the files may not be complete.
    pub(crate) fn refresh(&self, log: &Log, now: Millis) {
        // The code that changes the files reads them afterwards.
        if let Ok(_changing) = self.changing.try_lock() {
            self.take(log, now);
        }
    }

    fn take(&self, log: &Log, now: Millis) {
        let mut current = lock(&self.current);
        if current.is_placeholder && !self.certificate.exists() {
            return;
        }
        let file: (&str, &dyn std::fmt::Display) = ("file", &self.certificate.display());
        let read = PemFiles::read(&self.certificate, &self.key);
        if read.as_ref().is_ok_and(|files| *files == current.in_use) {
            if current.refused.take().is_some() {
                log.info("the files have the TLS certificate in use again", &[file]);
            }
            return;
        }
        match read.and_then(|files| self.replace(&files, current.validity, now).map(|validity| (files, validity))) {
            Ok((in_use, validity)) => {
                *current = Current { in_use, validity, refused: None, expiry: current.expiry, is_placeholder: false };
                log.info("using a new TLS certificate", &[file]);
            }
            Err(error) => {
                let cause = format!("{error:#}");
                if current.refused.as_ref() != Some(&cause) {
                    let what = "keeping the TLS certificate in use, because the new one cannot be used";
                    log.warn(what, &[("cause", &cause)]);
                }
                current.refused = Some(cause);
            }
        }
    }

    /// Shows another certificate from now on. Returns its validity.
    fn replace(&self, files: &PemFiles, former: Option<Validity>, now: Millis) -> anyhow::Result<Option<Validity>> {
        let is_valid = |validity: &Validity| validity.begins <= now && now <= validity.ends;
        let validity = Validity::read(&files.certificate);
        if let Some(Validity { begins, ends }) = validity.filter(|new| !is_valid(new))
            && former.as_ref().is_some_and(is_valid)
        {
            anyhow::bail!("the certificate in `{}` is valid from {begins} to {ends}", self.certificate.display());
        }
        self.tls.replace(&files.certificate, &files.key)?;
        Ok(validity)
    }
}

/// Adds the expiry of each certificate in use to the metrics, and whether its files are in use.
pub(crate) fn show_in_metrics(certificates: &[Arc<Certificate>], recorder: &Recorder) {
    let show = |metric, figure: fn(&Current) -> Option<f64>| {
        let certificates = certificates.to_vec();
        recorder.figures(metric, By::Label("certificate"), move || {
            let figure = |one: &Arc<Certificate>| Some((one.name.clone(), figure(&lock(&one.current))?));
            certificates.iter().filter_map(figure).collect()
        });
    };
    let doc = "When a certificate that this server shows expires, in seconds since 1970";
    let metric = Metric::gauge("certificate_expiry_timestamp_seconds", doc);
    show(metric, |current| current.validity.map(|validity| validity.ends.0 as f64 / 1e3));
    let doc = "Whether the files of a certificate cannot be used, so that the former certificate stays in use";
    let metric = Metric::gauge("certificate_files_refused", doc);
    show(metric, |current| Some(f64::from(u8::from(current.refused.is_some()))));
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
