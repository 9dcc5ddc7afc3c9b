//! A file that a flight still writes, as the front sends it.

use front::{Body, Growth, Waiting};
use repository::{Growing, Grown};
use tokio::sync::watch;

/// What of it has come and what will come.
pub(crate) fn body(growing: Growing) -> Body {
    let Growing { file, len, grown, .. } = growing;
    let now = *grown.borrow();
    match now {
        Grown::Whole(len) => Body::file(file, len),
        Grown::Going(_) | Grown::Broken => Body::Growing(front::Growing::new(file, len, Watched(grown))),
    }
}

#[derive(Debug)]
struct Watched(watch::Receiver<Grown>);

impl Growth for Watched {
    fn now(&self) -> front::Grown {
        seen(*self.0.borrow())
    }

    fn beyond(&self, at: u64) -> Waiting {
        let mut grown = self.0.clone();
        Box::pin(async move {
            let further = grown.wait_for(|grown| !matches!(grown, Grown::Going(there) if *there <= at)).await;
            // Whoever wrote it has gone without a word.
            further.map_or(front::Grown::Broken, |grown| seen(*grown))
        })
    }
}

fn seen(grown: Grown) -> front::Grown {
    match grown {
        Grown::Going(there) => front::Grown::Going(there),
        Grown::Whole(len) => front::Grown::Whole(len),
        Grown::Broken => front::Grown::Broken,
    }
}
