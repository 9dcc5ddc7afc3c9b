//! The first `/versions` of an upstream while it arrives. Clients read it as it arrives, because they wait for a few
//! seconds only (Bundler: 10). They get its end after the whole file is verified and in the journal.
//!
//! It is shown only if the upstream announces its MD5, which clients look for in the `ETag`, and only while its lines
//! can be relayed unchanged. If it turns out to differ, all replies with it are aborted, so that no client takes it for
//! the whole file.

use crate::content::Growing;
use crate::gem::found::ArrivingIndex;
use crate::gem::upstream::arrivals::Arrivals;
use crate::gem::upstream::listing::Lines;
use crate::upstream::download::{Growth, TAIL};
use format::gem::upstream::{Kept, Versions};
use std::sync::Arc;
use store::{MoreDigests, Origin, Staged, Store};
use telemetry::Event;

/// The file, from the side of the look that fetches it.
pub(crate) struct FirstBody<'a> {
    store: &'a Store,
    arrivals: &'a Arrivals,
    origin: Origin,
    promise: Option<Promise>,
    shown: Option<Shown>,
}

/// The upstream's announcements about the file.
#[derive(Clone)]
struct Promise {
    md5: String,
    sha256: Option<[u8; 32]>,
    length: Option<u64>,
}

/// The part that clients can read.
struct Shown {
    staged: Staged,
    growth: Growth,
    written: usize,
}

impl<'a> FirstBody<'a> {
    /// A file without bytes.
    pub(crate) fn new(store: &'a Store, arrivals: &'a Arrivals, origin: Origin) -> Self {
        Self { store, arrivals, origin, promise: None, shown: None }
    }

    /// Sets the announced MD5, SHA-256 and length.
    pub(crate) fn expect(&mut self, md5: Option<String>, sha256: Option<[u8; 32]>, length: Option<u64>) {
        self.promise = md5.map(|md5| Promise { md5, sha256, length });
    }

    /// Shows the bytes that have arrived. A failure to write them does not affect the look.
    pub(crate) async fn show(&mut self, text: &Versions, event: &mut Event) {
        let Some(promise) = self.promise.clone() else { return };
        let shown = match text.relayable() {
            // A short file is sent after it is complete.
            Some(until) if self.shown.is_none() && until as u64 <= TAIL => return,
            Some(until) => self.write(promise, text, until, event).await.is_ok(),
            None => false,
        };
        if !shown {
            self.break_off();
        }
    }

    async fn write(
        &mut self,
        promise: Promise,
        text: &Versions,
        until: usize,
        event: &mut Event,
    ) -> Result<(), store::Error> {
        let (mut shown, grown) = match self.shown.take() {
            Some(shown) => (shown, None),
            None => {
                let (growth, grown) = Growth::new();
                let staged = self.store.stage_fetched(MoreDigests::default(), event).await?;
                (Shown { staged, growth, written: 0 }, Some(grown))
            }
        };
        for piece in text.text().range(shown.written, until) {
            shown.staged.write(piece, event).await?;
        }
        shown.written = until;
        shown.growth.come_to(shown.staged.size_bytes(), promise.length);
        if let Some(grown) = grown {
            let Promise { md5, sha256, length: len } = promise;
            let growing = Growing { file: Arc::new(shown.staged.open()?), len, grown, promised: Arc::default() };
            self.arrivals.show(self.origin, ArrivingIndex { growing, md5, sha256 });
        }
        self.shown = Some(shown);
        Ok(())
    }

    /// The file is verified, and our log begins with its first `lines` bytes, so clients may have its end.
    pub(crate) fn land(mut self, kept: Option<&Kept>, from: Lines, lines: usize) {
        let right = self.promise.take().is_some_and(|promise| kept.is_some_and(|kept| kept.md5_hex() == promise.md5));
        if let Some(Shown { growth, written, .. }) = self.shown.take()
            && right
            && from == Lines::Relayed
            && written == lines
        {
            growth.whole(written as u64);
        }
    }

    /// The file differs from its announcement, or cannot be relayed.
    pub(crate) fn break_off(&mut self) {
        // It is hidden before its readers are told, so that no further request finds it.
        self.arrivals.hide();
        (self.promise, self.shown) = (None, None);
    }
}

impl Drop for FirstBody<'_> {
    fn drop(&mut self) {
        self.break_off();
    }
}
