//! Lines in our log that correct the upstream's index: they have the MD5 of the upstream's actual `/info`, where its
//! own line has another one.

use crate::error::{Error, Result};
use crate::gem::upstream::follow::Follow;
use crate::gem::upstream::listing::Lines;
use format::gem::upstream::{Change, Difference};
use format::gem::versions;
use telemetry::Job;
use tokio::sync::OwnedMutexGuard;

impl Follow {
    /// Adds a line with this MD5 of a gem. The upstream's `listed` MD5 is not that of its `/info`. The caller has the
    /// turn.
    pub(crate) async fn write_correction(
        self,
        name: String,
        listed: String,
        md5: String,
        turn: OwnedMutexGuard<()>,
    ) -> Result<()> {
        let (origin, followed) = (self.remote.repository.origin, self.index());
        let mut job = Job::begin(&self.remote.remotes.recorder, "index.correct");
        job.subject.repository = self.remote.repository.record.name.as_str().into();
        (job.subject.kind, job.subject.package) = ("info", name.as_str().into());
        let line = followed.read(origin, |known| {
            let said = known.listing.log().said(&name).filter(|said| said.md5 == listed)?;
            Some((correction(&name, said.tokens.last().map(String::as_str), &md5), known.file.clone()))
        });
        let done = match line.flatten() {
            Some((line, file)) => {
                let change = Change { name, new: Vec::new(), gone: Vec::new(), vanished: false };
                let difference =
                    Difference { lines: line.into_bytes(), changes: vec![change], ..Difference::default() };
                Box::pin(self.append(difference, Lines::Correcting, file, &mut job)).await
            }
            // The index changed meanwhile.
            None => Ok(()),
        };
        job.reason = done.as_ref().err().map(Error::reason);
        job.end_as(&done);
        drop(turn);
        done
    }
}

/// A line that changes only the MD5 of a gem. `last` is its most recently listed version.
fn correction(name: &str, last: Option<&str>, md5: &str) -> String {
    let line = match last {
        Some(token) => versions::replacing_line(name, token, "ruby", md5),
        None => versions::tombstone(name, md5),
    };
    line + "\n"
}
