//! Fronts with handlers of one function.

use crate::running_front::{Front, options};
use front::{Answering, Handler, Limits, Options, Reply, Request};
use std::sync::Arc;
use telemetry::Event;

/// Answers with what the function returns.
pub(crate) struct Answers<F>(pub(crate) F);

impl<F: Fn(&mut Request) -> Reply + Send + Sync + 'static> Handler for Answers<F> {
    fn answer<'a>(&'a self, request: &'a mut Request, _: &'a mut Event) -> Answering<'a> {
        Box::pin(async { (self.0)(request) })
    }
}

/// A front whose replies this function makes at once.
pub(crate) fn front(answer: impl Fn(&mut Request) -> Reply + Send + Sync + 'static) -> Front {
    with(options(Limits::default()), answer)
}

/// The same with options.
pub(crate) fn with(options: Options, answer: impl Fn(&mut Request) -> Reply + Send + Sync + 'static) -> Front {
    Front::of(options, None, Arc::new(Answers(answer)))
}
