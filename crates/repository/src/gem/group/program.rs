//! What a group answers programs about one gem: the owner of its name answers.

use crate::actor::Actor;
use crate::error::Error;
use crate::gem::group::{GroupGems, Member};
use crate::gem::{Found, describe, parameters};
use format::gem::call::{Call, Form};
use telemetry::Event;

impl GroupGems<'_> {
    /// Answers a program.
    pub(crate) async fn call(
        self,
        call: Call<'_>,
        form: Form,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found, Error> {
        let ask = parameters::describe(call, form, &self.ask.parameters, self.now())?;
        let Some(name) = ask.what.gem() else {
            return Err(Error::Unsupported("groups of gems do not answer this: ask a member".into()));
        };
        let owners = self.owners(name, event).await?;
        for place in owners {
            let found = match self.member(&self.leaves()[place])? {
                Member::Hosted(hosted) => describe::describe(hosted, &ask, by, self.now(), event).await,
                Member::Remote(remote, local) => {
                    self.remote(&remote, local).call(call, form, &self.ask.parameters, event).await
                }
            };
            match found {
                Err(Error::NoSuchGem | Error::NoSuchGemVersion) => {}
                found => return found,
            }
        }
        Err(Error::NoSuchGem)
    }
}
