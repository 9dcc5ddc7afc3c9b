//! For `daylight explain`: the entries of the upstream's index, their dates, the cached files, and the state of the
//! index. This calls no upstream.

use crate::gem::Question;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::forbidden::forbidden;
use crate::gem::upstream::listing::{Dated, Listed, ListedVersion};
use crate::upstream::Remembered;
use format::gem::upstream::full_name::candidates_by;
use telemetry::Event;

impl RemoteGems<'_> {
    /// Adds the sources of an answer to the event.
    pub(crate) async fn explain(self, question: &Question<'_>, event: &mut Event) {
        let mut told = vec![std::mem::take(&mut event.detail)];
        match *question {
            Question::Info(name) => told.extend(self.of_gem(name, event).await),
            Question::Gem(full_name) | Question::Gemspec(full_name) => {
                told.extend(self.of_version(full_name, event).await)
            }
            _ => {}
        }
        told.push(self.of_index());
        told.retain(|text| !text.is_empty());
        event.detail = told.join("; ");
    }

    /// The state of the upstream's index.
    fn of_index(self) -> String {
        let known = |known: &crate::gem::upstream::index::Known| {
            let tried = match known.tried {
                at if at.0 > 0 => format!("was checked on {at}"),
                _ => "was not checked since the start".into(),
            };
            let mut text =
                format!("the upstream's `/versions` {tried}, and the answered state was verified on {}", known.checked);
            if let Some(reason) = known.failed {
                text.push_str(&format!("; requests fail since then: {}", reason.as_str()));
            }
            if let Some(held) = known.held_back {
                let name = &self.remote.repository.record.name;
                text.push_str(&format!(
                    "; since {} it lacks {} names, and this change is held back for an hour unless `daylight repo accept-index {name}` accepts it",
                    held.since, held.names
                ));
            }
            text
        };
        self.known(known).unwrap_or_else(|_| "the upstream's `/versions` was not requested yet".into())
    }

    async fn of_gem(self, name: &str, event: &mut Event) -> Vec<String> {
        let listed = self.end().and_then(|end| self.known(|known| known.listing.gem_by(name, end)));
        let Ok(Some(listed)) = listed else { return vec![format!("`/versions` never listed `{name}`")] };
        let Listed { versions, md5 } = &listed;
        let mut told = vec![format!(
            "`/versions` lists {} versions of `{name}`, and {md5} as the MD5 of `/info/{name}`",
            versions.len()
        )];
        if let Some(hidden) = forbidden(&self.remote.repository, name, "") {
            told.push(format!("{hidden}, so its upstream is not asked for it"));
            return told;
        }
        told.extend(self.left_out(name));
        told.push(
            self.of_file(&format!("info/{name}"), |known| known.md5.as_ref() == Some(md5), "that MD5", event).await,
        );
        told
    }

    async fn of_version(self, full_name: &str, event: &mut Event) -> Vec<String> {
        let found = self.end().and_then(|end| {
            self.known(|known| {
                let found = candidates_by(known.listing.log(), full_name, end).into_iter().next()?;
                let listed = known.listing.gem_by(&found.name, end)?;
                listed
                    .versions
                    .into_iter()
                    .find(|version| version.token == found.token)
                    .map(|version| (found.name, version))
            })
        });
        let Ok(Some((name, version))) = found else {
            return vec![format!("`/versions` does not list `{full_name}`")];
        };
        let ListedVersion { token, since, seen, dated, .. } = version;
        let dated = match dated {
            Dated::On => format!(", and the upstream dates it {since}"),
            Dated::By => format!(", and the upstream had it by {since}"),
            Dated::No => String::new(),
        };
        let mut told =
            vec![format!("`/versions` lists `{token}` of `{name}`; it was first seen here on {seen}{dated}")];
        told.push(self.of_file(&format!("gems/{name}-{token}.gem"), |_| true, "", event).await);
        told
    }

    /// The cached state of a file.
    async fn of_file(
        self,
        path: &str,
        is_it: impl FnOnce(&store::Hashes) -> bool,
        with: &str,
        event: &mut Event,
    ) -> String {
        match self.remote.recall(&self.remote.repository.file(path), event).await {
            Ok(Some(Remembered::File(kept))) => {
                let fetched = kept.known.fetched;
                match (is_it(&kept.known.hashes), with) {
                    (true, "") => format!("`{path}` is in the cache since {fetched}"),
                    (true, with) => format!("`{path}` is in the cache since {fetched}, with {with}"),
                    (false, with) => {
                        format!("`{path}` is in the cache since {fetched}, without {with}, so it is fetched again")
                    }
                }
            }
            _ => format!("`{path}` is not in the cache"),
        }
    }
}
