//! What an answer is made from: the revisions that it holds with, and for how long.

use crate::format::Format;
use crate::group::namespace_guard;
use crate::question::{Ask, Question};
use crate::repositories::Repositories;
use crate::tree;
use crate::upstream::COUNTS_AS_USED;
use format::gem::spelling;
use store::{RepositoryId, RepositoryKind, Stamp, Unit};
use telemetry::Millis;

/// Milliseconds after which the journal has all that was to be changed at a moment: far more than any change waits.
const SETTLES: i64 = 60_000;

impl Repositories {
    /// What the answer to `ask` will be made from, or `None` where it is never a page. Taken before the work. It ends when an
    /// exception of a policy does; the end of a cooldown is known to whoever looks at what is young.
    pub fn stamp(&self, ask: &Ask) -> Option<Stamp> {
        let now = self.clock.now();
        // A change of that moment may still be on its way into the journal.
        if ask.repository.as_of.is_some_and(|past| past.until <= now && now.0 - past.until.0 < SETTLES) {
            return None;
        }
        let stamp = self.made_from(ask)?;
        Some(ask.repository.ends(now).map_or(stamp, |ends| stamp.until(ends)))
    }

    fn made_from(&self, ask: &Ask) -> Option<Stamp> {
        let id = ask.repository.id;
        let unit = match &ask.question {
            Question::Root | Question::ClientSettings(_) => return Some(ask.settings),
            Question::Versions | Question::Names => Unit::All(id),
            Question::Info(name) => Unit::Of(id, name),
            Question::Describe(ask) => Unit::Of(id, ask.what.gem()?),
            Question::Gemspec(full_name) | Question::Gem(full_name) => {
                return self.any_of(id, full_name)?.join(&ask.settings);
            }
            Question::Specs(_) | Question::Download(_) | Question::Dependencies(..) => return None,
            Question::Push | Question::Yank { .. } | Question::Own { .. } => return None,
            Question::Fetch(path) if ask.repository.record.kind == RepositoryKind::Remote => {
                Unit::Of(id, format::tree::folder(path))
            }
            Question::Fetch(path) => tree::unit(id, path),
            Question::Deploy(_) | Question::Delete(_) => return None,
        };
        let until = match ask.repository.record.kind {
            RepositoryKind::Remote | RepositoryKind::Group => Millis(self.clock.now().0 + COUNTS_AS_USED),
            RepositoryKind::Hosted => Millis(i64::MAX),
        };
        let stamp = |unit: Unit<'_>| self.store.revisions().stamp(&[unit], until);
        let made = stamp(unit)?.join(&ask.settings)?;
        // Whose a name is, where hosted members and upstreams may have it. What may be of many names is never a page.
        match (&ask.question, ask.repository.record.kind, ask.repository.format) {
            (Question::Fetch(path), RepositoryKind::Group, Format::Maven) => {
                namespace_guard::artifacts(path).try_fold(made, |made, folder| made.join(&stamp(Unit::Of(id, folder))?))
            }
            _ => Some(made),
        }
    }

    /// The stamp of what is known by a full name: it may be a version of any of a few gems.
    fn any_of(&self, id: RepositoryId, full_name: &str) -> Option<Stamp> {
        let units: Vec<_> = spelling::readings(full_name).map(|reading| Unit::Of(id, reading.name)).collect();
        let few = (1..=spelling::READINGS).contains(&units.len());
        few.then(|| self.store.revisions().stamp(&units, Millis(i64::MAX)))?
    }
}
