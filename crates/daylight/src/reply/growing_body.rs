//! The body of a reply with a file that is still being downloaded.

use front::{Body, Growth, Waiting};
use repository::{Growing, Grown};
use tokio::sync::watch;

/// A body of a file that still arrives: it is sent as the file grows.
pub(crate) fn body(growing: Growing) -> Body {
    let Growing { file, len, grown, .. } = growing;
    let now = *grown.borrow();
    match now {
        Grown::Whole(len) => Body::file(file, len),
        Grown::Going(_) | Grown::Broken => Body::Growing(front::Growing::new(file, len, WatchedLength(grown))),
    }
}

#[derive(Debug)]
struct WatchedLength(watch::Receiver<Grown>);

impl Growth for WatchedLength {
    fn now(&self) -> front::Grown {
        to_front(*self.0.borrow())
    }

    fn beyond(&self, at: u64) -> Waiting {
        let mut grown = self.0.clone();
        Box::pin(async move {
            let further = grown.wait_for(|grown| !matches!(grown, Grown::Going(there) if *there <= at)).await;
            // The download was dropped.
            further.map_or(front::Grown::Broken, |grown| to_front(*grown))
        })
    }
}

fn to_front(grown: Grown) -> front::Grown {
    match grown {
        Grown::Going(there) => front::Grown::Going(there),
        Grown::Whole(len) => front::Grown::Whole(len),
        Grown::Broken => front::Grown::Broken,
    }
}
