//! The answers of a group for programs. The owner of a gem's name answers about the gem; members that share the name
//! answer together.

use crate::actor::Actor;
use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::describe::one;
use crate::gem::group::told::Depth;
use crate::gem::group::{GroupGems, Member};
use crate::gem::program::{Describe, What};
use crate::gem::{Found, describe, parameters};
use crate::index::document::Index;
use crate::workers::aside;
use format::gem::call::{Call, Form};
use format::gem::document;
use serde_json::Value;
use store::Lane;
use telemetry::{Event, Op};

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
        if self.local.repository.as_of.is_some() && !ask.what.is_of_versions() {
            let text = "owners and search results are only available as of now, not as of an earlier moment";
            return Err(Error::Unsupported(text.into()));
        }
        let name = match (ask.what.gem(), &ask.what) {
            (Some(name), _) => name,
            (None, What::Search(..) | What::Complete(_)) => return self.search(ask, event).await,
            (None, _) => return self.of_hosted(ask, by, event).await,
        };
        let owners = self.owners_told(name, event).await?;
        if owners.len() > 1 && ask.what.is_of_versions() {
            return self.of_shared(&ask, name, &owners, event).await;
        }
        let mut refusal = Error::NoSuchGem;
        for place in owners {
            let found = match self.member(&self.leaves()[place])? {
                Member::Hosted(hosted) => describe::describe(hosted, &ask, by, self.now(), event).await,
                Member::Remote(remote, local) => {
                    let remote = self.remote(&remote, local);
                    let told = remote.call(call, form, &self.ask.parameters, event).await;
                    told.and_then(|told| match remote.until_looked_at(Any::Gem(told)) {
                        Any::Gem(told) => Ok(told),
                        _ => Err(Error::GivenUp),
                    })
                }
            };
            self.tell_asked(place, &found, event);
            match found {
                Err(error @ (Error::NoSuchGem | Error::NoSuchGemVersion)) => refusal = error,
                Err(Error::Unsupported(_)) if matches!(ask.what, What::Owners(_)) => {
                    return Err(Error::Unsupported(format!(
                        "`{name}` comes from an upstream of this group, which knows its owners: ask the upstream, `gem owner {name} --host URL`"
                    )));
                }
                found => return found,
            }
        }
        Err(refusal)
    }

    /// The answer about a gem that several members share.
    async fn of_shared(self, ask: &Describe, name: &str, owners: &[usize], event: &mut Event) -> Result<Found, Error> {
        let told = self.told(name, owners, Depth::Whole, event).await;
        owners.iter().for_each(|place| self.tell_asked(*place, &told, event));
        let told = told?;
        let (fresh_until, count, ask, form) = (told.until, told.versions.len(), ask.clone(), ask.form);
        let render = move || {
            let mut shown = one(&ask.what, told.versions, &ask.base)?;
            match &mut shown {
                Value::Array(all) => all.iter_mut().for_each(|one| told.of_upstreams.leave_out(one)),
                one => told.of_upstreams.leave_out(one),
            }
            Ok::<_, Error>(document::render(&shown, form))
        };
        let made = aside(&self.local.context.workers, Lane::Index, Op::IndexRender, count, event, render).await?;
        Ok(Found::Document(Index { fresh_until, ..Index::of(made) }, form))
    }
}
