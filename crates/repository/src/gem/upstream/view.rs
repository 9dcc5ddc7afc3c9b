//! An upstream's index filtered by a policy.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::gem::indexes::view_log::{GemStates, Md5OfInfo, ToSay};
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::index::Known;
use crate::gem::upstream::listing::{Listed, ListedVersion, Moments, Offer};
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::rules::View;
use crate::visible::{Row, next_change, visible};
use format::gem::info::md5_hex;
use store::{Lane, State};
use telemetry::{Event, Millis, Op};

/// One version of a gem as `/versions` lists it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenRow<'a> {
    pub(crate) name: &'a str,
    /// `1.0`, `1.0-java`.
    pub(crate) token: &'a str,
    pub(crate) since: Millis,
    age: Since,
}

impl<'a> TokenRow<'a> {
    /// The versions of a gem as rows.
    pub(crate) fn of(offer: &'a Offer<'_>) -> impl Iterator<Item = TokenRow<'a>> {
        let row = |(token, moments): &'a (&str, Moments)| TokenRow {
            name: offer.name,
            token,
            since: moments.since,
            age: moments.age_in_lists(),
        };
        offer.versions.iter().map(row)
    }

    /// The same row with the age that is proven, whether `/info` was read or not.
    pub(crate) fn proven(self, version: &ListedVersion) -> Self {
        Self { age: version.age(), ..self }
    }
}

impl Row for TokenRow<'_> {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (State::Live, self.since, self.since)
    }

    fn coordinates(&self, format: Format) -> Option<PackageVersion<'_>> {
        let number = self.token.split_once('-').map_or(self.token, |(number, _)| number);
        let (package, version) = (self.name.into(), number.into());
        Some(PackageVersion { format, package, version, since: self.age, upstream: true })
    }
}

/// The versions of a gem as rows of a list.
pub(crate) fn token_rows<'a>(name: &'a str, gem: &'a Listed) -> Vec<TokenRow<'a>> {
    let row = |version: &'a ListedVersion| {
        let (token, since, age) = (version.token.as_str(), version.since, version.moments().age_in_lists());
        TokenRow { name, token, since, age }
    };
    gem.versions.iter().map(row).collect()
}

impl RemoteGems<'_> {
    /// What `read` returns for the known state of the upstream's index. Call it after `ready`.
    pub(crate) fn known<T>(self, read: impl FnOnce(&Known) -> T) -> Result<T> {
        self.index.read(self.remote.repository.origin, read).ok_or(Error::GivenUp)
    }

    /// The present listed versions of a gem.
    pub(crate) fn gem_now(self, name: &str) -> Option<Listed> {
        self.index.gem(self.remote.repository.origin, name)
    }

    /// The visible versions of each gem, and when others become visible.
    pub(crate) async fn states(self, event: &mut Event) -> Result<GemStates> {
        let (repository, now) = (self.remote.repository.clone(), self.now());
        let (shared, end) = (repository.shared.clone(), self.end()?);
        let look = move |(): &mut ()| {
            shared.gems().followed.read(repository.origin, |known| {
                let all = known.listing.all_by(end, |name, gem| state(name, gem, repository.view(now)));
                let until = all.iter().filter_map(|(_, says)| says.until).min();
                (all.into_iter().collect(), until)
            })
        };
        let seen = self.context.workers.run(Lane::Index, Op::IndexRender, event, look).await?;
        seen.ok_or(Error::GivenUp)
    }
}

/// The visible versions of a gem. Clients compare the MD5 only with that of their own file, to decide whether to request
/// it. So if versions are hidden, any digits are valid that change whenever the file may have changed.
fn state(name: &str, gem: &Listed, view: View<'_>) -> ToSay {
    let rows = token_rows(name, gem);
    let tokens: Vec<String> = visible(&rows, view).map(|seen| seen.entry().token.to_owned()).collect();
    let until = next_change(&rows, view);
    let md5 = match tokens.len() == rows.len() {
        _ if tokens.is_empty() => return ToSay::nothing(until),
        true => Md5OfInfo::Known(gem.md5.clone()),
        false => {
            let basis = md5_hex(format!("{name} {} {}", tokens.join(","), gem.md5).as_bytes());
            Md5OfInfo::Unknown { basis, known: None, likely: None }
        }
    };
    ToSay { tokens, md5, until }
}
