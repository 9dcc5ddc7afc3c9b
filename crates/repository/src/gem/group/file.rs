//! What a group answers about one version: the member answers whose the name is.

use crate::error::Error;
use crate::found::Found as Any;
use crate::gem::group::{GroupGems, Member};
use crate::gem::{Found, download};
use crate::tree;
use format::gem::spelling::{READINGS, readings};
use telemetry::Event;

/// What is asked of a version.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Gem,
    Gemspec,
    Attestations,
}

impl GroupGems<'_> {
    /// A part of the version of this full name. It may be of more than one gem: of each, its owner is asked, and for no other name.
    pub(crate) async fn file(self, part: Part, full_name: &str, event: &mut Event) -> Result<Any, Error> {
        let mut asked: Vec<(usize, &str)> = Vec::new();
        let mut refusal = Error::NoSuchPackage;
        for reading in readings(full_name).take(READINGS) {
            match self.owners_told(reading.name, event).await {
                Ok(owners) => asked.extend(owners.into_iter().map(|place| (place, reading.name))),
                Err(error) => refusal = error,
            }
        }
        for (place, name) in asked {
            let found = self.member_file(place, name, part, full_name, event).await;
            self.tell_asked(place, &found, event);
            match found {
                Err(Error::NoSuchPackage) => {}
                // Another reading of the name may be offered.
                Err(error @ (Error::Withdrawn(_) | Error::Hidden(_))) => refusal = error,
                found => return found,
            }
        }
        Err(refusal)
    }

    async fn member_file(
        self,
        place: usize,
        name: &str,
        part: Part,
        full_name: &str,
        event: &mut Event,
    ) -> Result<Any, Error> {
        let is_it = |other: &str| other == name;
        match self.member(&self.leaves()[place])? {
            Member::Hosted(hosted) => {
                let found = match part {
                    Part::Gem => download::gem(hosted, full_name, &is_it, self.now(), event).await,
                    Part::Gemspec => download::gemspec(hosted, full_name, &is_it, self.now(), event).await,
                    Part::Attestations => {
                        return Err(Error::Unsupported(
                            "attestations of gems that are pushed here are not kept yet".into(),
                        ));
                    }
                };
                found.map(Any::Gem)
            }
            Member::Remote(remote, local) => {
                let remote = self.remote(&remote, local);
                let found = match part {
                    Part::Gem => Any::Tree(tree::Found::Content(remote.gem(full_name, &is_it, event).await?)),
                    Part::Attestations => {
                        Any::Tree(tree::Found::Content(remote.attestations(full_name, &is_it, event).await?))
                    }
                    Part::Gemspec => Any::Gem(remote.gemspec(full_name, &is_it, event).await?),
                };
                Ok(remote.until_looked_at(found))
            }
        }
    }
}

/// The redirection of the URL that gems had before 2010.
pub(crate) fn download(full_name: &str) -> Any {
    Any::Gem(Found::Elsewhere(format!("../gems/{full_name}.gem")))
}
