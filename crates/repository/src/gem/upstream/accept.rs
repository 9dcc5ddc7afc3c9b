//! An operator believes a file of the upstream's that is held back because it lacks many names.

use crate::gem::upstream::follow::Follow;
use crate::upstream::PATIENCE;
use tokio::time::timeout;

impl Follow {
    /// Has the file that is held back counted by the next look, which begins now. Returns whether there is one. Where the upstream fails,
    /// or is slow, a later look has it counted.
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
            // A look that was under way may have found it once more.
            if accept().is_some() {
                // How it ends is told with what is known of the index.
                let _ = self.start(turn).await;
            }
        };
        let _ = timeout(PATIENCE, look).await;
        true
    }
}
