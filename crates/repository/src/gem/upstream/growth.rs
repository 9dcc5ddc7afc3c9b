//! Limits the growth of an upstream's log. The journal keeps every line, so an upstream that changes every gem at each
//! look must not fill the disk or make the log too long to read.

use crate::error::Result;
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::looked::invalid;
use format::gem::upstream::NAMES_MAX;
use telemetry::Millis;

const DAY_MS: i64 = 86_400_000;
/// Maximum length of a log, in bytes. It is in memory.
const LOG_BYTES: usize = 1 << 30;

impl Follow {
    /// Refuses lines of this length if they would make the log too long, or exceed the growth that is allowed within a
    /// day.
    pub(crate) fn admit(&self, bytes: usize) -> Result<()> {
        let (since, allowed) = (Millis(self.now().0 - DAY_MS), self.remote.remotes.store.first_seen_max_bytes());
        let grown = self.index().read(self.remote.repository.origin, |known| {
            let log = known.listing.log();
            (log.text().len(), log.names(), known.listing.grown_since(since))
        });
        let (len, names, grown) = grown.unwrap_or_default();
        // The log keeps the names of removed gems, so it may have more names than a file.
        if names > 2 * NAMES_MAX {
            return Err(invalid(&format!("it ever listed more than {} names", 2 * NAMES_MAX)).into());
        }
        if len + bytes > LOG_BYTES {
            return Err(invalid(&format!("what it ever said would have more than {LOG_BYTES} bytes")).into());
        }
        if (grown + bytes) as u64 > allowed {
            let text = format!(
                "{bytes} bytes of lines are new in it after {grown} bytes within a day, and {allowed} are allowed; \
                 hint: raise `upstream.first_seen_bytes` if the upstream is right"
            );
            return Err(invalid(&text).into());
        }
        Ok(())
    }
}
