//! The files of the certificate, read at the start and again when they change: certificates are renewed every few weeks,
//! and nobody restarts a server for that.

mod validity;

use crate::config::Settings;
use anyhow::Context;
use front::Tls;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use telemetry::{Clock, Log, Millis};

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(10);
/// Far above any chain of certificates.
const FILE_MAX_BYTES: u64 = 1 << 20;

/// A certificate is near its end when less than this is left of it, in milliseconds: two weeks...
const NEAR: i64 = 14 * 86_400_000;
/// ... or less than this part of its life, where that is shorter.
const NEAR_PART: i64 = 3;

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
    /// What has been said of its end.
    ends: Ends,
}

/// How near a certificate is to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Later,
    Soon,
    Past,
}

impl Ends {
    fn at(now: Millis, (begins, ends): (Millis, Millis)) -> Self {
        let left = ends.0.saturating_sub(now.0);
        match NEAR.min(ends.0.saturating_sub(begins.0) / NEAR_PART) {
            _ if left <= 0 => Self::Past,
            near if left < near => Self::Soon,
            _ => Self::Later,
        }
    }
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
        Ok(Some(Arc::new(Self {
            certificate,
            key,
            last: Mutex::new(Last { contents, complained: false, ends: Ends::Later }),
            tls,
        })))
    }

    pub(crate) fn tls(&self) -> Arc<Tls> {
        self.tls.clone()
    }

    /// Looks at the files now and then, for as long as the runtime lives.
    pub(crate) async fn watch(self: Arc<Self>, log: Log, clock: Clock) {
        loop {
            self.tell_end(&log, clock.now());
            tokio::time::sleep(EVERY).await;
            self.refresh(&log);
        }
    }

    /// Says in the log that the certificate ends soon, that it has ended, and that one is shown that does neither: each once.
    fn tell_end(&self, log: &Log, now: Millis) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(validity) = validity::read(&last.contents.certificate) else { return };
        let ends = Ends::at(now, validity);
        if ends == std::mem::replace(&mut last.ends, ends) {
            return;
        }
        let fields: [(&str, &dyn std::fmt::Display); 2] =
            [("file", &self.certificate.display()), ("ends", &validity.1)];
        match ends {
            Ends::Past => log.error("the certificate has ended: clients refuse it", &fields),
            Ends::Soon => log.warn("the certificate ends soon: renew it", &fields),
            Ends::Later => log.info("the certificate is good again", &fields),
        }
    }

    /// Shows the certificate that is in the files now. What cannot be used is said once, and the one before stays: the
    /// files may be halfway through their renewal.
    pub(crate) fn refresh(&self, log: &Log) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = match Contents::read(&self.certificate, &self.key) {
            Ok(now) if now == last.contents => return,
            Ok(now) => {
                *last = Last { contents: now, complained: false, ends: last.ends };
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

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    #[test]
    fn a_certificate_ends_soon_two_weeks_before_or_in_the_last_third_of_a_short_life() {
        let at = |life: i64, day: i64| Ends::at(Millis(day * DAY), (Millis(0), Millis(life * DAY)));
        assert_eq!([0, 75, 76, 77, 89, 90, 500].map(|day| at(90, day)), {
            use Ends::{Later, Past, Soon};
            [Later, Later, Later, Soon, Soon, Past, Past]
        });
        assert_eq!([3, 4, 5, 6].map(|day| at(6, day)), [Ends::Later, Ends::Later, Ends::Soon, Ends::Past]);
    }
}
