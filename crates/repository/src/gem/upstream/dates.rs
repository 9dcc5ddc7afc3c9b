//! The publication dates of versions that the upstream had at the first look, from their `/info`. For later versions
//! the first sight counts, because an upstream could set any date to pass a cooldown.
//!
//! A date is stored if it changes the effect of a cooldown, so that every protocol counts from the same moment.

use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::view::token_rows;
use crate::policy::rules::View;
use crate::visible::visible;
use format::gem::upstream::Info;
use std::collections::HashMap;
use telemetry::Millis;

impl RemoteGems<'_> {
    /// The listed versions of a gem with the dates of its `/info`. If the dates make other versions visible, all
    /// indexes with the gem are made again.
    pub(crate) fn dated(self, name: &str, info: &Info, listed: Listed) -> Listed {
        let view = self.remote.repository.view(self.now());
        if !view.rules.count_ages() || !listed.versions.iter().any(|version| version.from_start) {
            return listed;
        }
        let date = |seconds: i64| Millis(seconds.saturating_mul(1000));
        let told: HashMap<&str, Millis> =
            info.lines().filter_map(|line| Some((line.token, date(line.created_at()?)))).collect();
        let (rows, mut news) = (token_rows(name, &listed), false);
        let mut dates: Vec<(Box<str>, Millis)> = Vec::new();
        for (row, version) in rows.iter().zip(&listed.versions).filter(|(_, version)| version.from_start) {
            // A version that was seen existed. Without a date it is as old as is known without `/info`.
            let told = told.get(version.token.as_str()).map_or(version.since, |told| *told.min(&version.seen));
            let is_known = version.asked && told == version.since;
            if is_known || told > version.since || view.finds_young(&row.proven(version)) {
                dates.push((version.token.as_str().into(), told));
                news |= !is_known;
            }
        }
        if !news {
            return listed;
        }
        let origin = self.remote.repository.origin;
        let seen = |listed: &Listed, view| {
            let rows = token_rows(name, listed);
            visible(&rows, view).map(|seen| seen.entry().token.to_owned()).collect::<Vec<_>>()
        };
        // Dates that an as-of view used apply to all views.
        let of_now =
            || seen(&self.gem_now(name).unwrap_or_default(), View { as_of: None, exceptions_by: None, ..view });
        let before = of_now();
        self.index.change(origin, |known| known.listing.date(name, dates));
        self.local.indexes.learned.note(name);
        let dated = self.end().and_then(|end| self.known(|known| known.listing.gem_by(name, end)));
        let Ok(Some(dated)) = dated else { return listed };
        if seen(&dated, view) != seen(&listed, view) || of_now() != before {
            self.local.store.change_upstream_index(self.remote.repository.id, &[name], || ());
        }
        dated
    }
}
