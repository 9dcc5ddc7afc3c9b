//! An operator accepts a file of the upstream that is held back because it lacks many names.

use crate::gem::upstream::follow::Follow;
use crate::upstream::PATIENCE;
use tokio::time::timeout;

impl Follow {
    /// Makes the next look, which begins now, use the file that is held back. Returns whether there is one. If the
    /// upstream fails or is slow, a later look uses it.
    pub(crate) async fn accept(&self) -> bool {
        let accept = || {
            let origin = self.remote.repository.origin;
            self.index().change(origin, |known| known.held_back.as_mut().map(|held| held.accepted = true)).flatten()
        };
        if accept().is_none() {
            return false;
        }
        let look = async {
            let turn = self.index().looking.clone().lock_owned().await;
            // A look that was running may have held it back again.
            if accept().is_some() {
                // The result is reported with the state of the index.
                let _ = self.start(turn).await;
            }
        };
        let _ = timeout(PATIENCE, look).await;
        true
    }
}
