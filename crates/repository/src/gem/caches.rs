//! The caches that all gem repositories share.

use crate::gem::content_reads::ContentReads;
use crate::gem::piece_cache::Pieces;
use crate::gem::push_cache::PushCache;
use crate::gem::views::Views;
use std::sync::Arc;
use telemetry::Recorder;

/// The caches that all gem repositories share.
#[derive(Debug)]
pub(crate) struct GemCaches {
    /// The state of recently pushed gems.
    pub(crate) pushed: Arc<PushCache>,
    /// The rendered parts of the dependency API.
    pub(crate) pieces: Pieces,
    /// Filtered indexes, and those as of a moment.
    pub(crate) views: Views,
    pub(crate) content_reads: ContentReads,
    /// The URL of the default upstream of gems.
    pub(crate) default_upstream: Option<String>,
}

impl GemCaches {
    /// Empty caches with these limits, in bytes.
    pub(crate) fn new(pushed_bytes: u64, pieces_bytes: u64, views_bytes: u64, recorder: &Recorder) -> Self {
        let caches = Self {
            pushed: Arc::new(PushCache::new(pushed_bytes)),
            pieces: Pieces::new(pieces_bytes),
            views: Views::new(views_bytes),
            content_reads: ContentReads::default(),
            default_upstream: None,
        };
        recorder.register(caches.pushed.bound().clone());
        recorder.register(caches.pieces.bound().clone());
        caches.views.bounds().into_iter().for_each(|bound| recorder.register(bound.clone()));
        recorder.register(caches.content_reads.bound().clone());
        caches
    }
}
