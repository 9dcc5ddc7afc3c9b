//! What an answer is made from: the revisions that it holds with, and for how long.

use crate::error::Error;
use crate::found::Found;
use crate::gem;
use crate::gem::upstream::look::RECENT_MS;
use crate::question::{Ask, Question};
use crate::repositories::Repositories;
use crate::tree;
use crate::tree::file::Guarded;
use crate::upstream::TOUCH_INTERVAL_MS;
use format::gem::spelling;
use store::{RepositoryId, RepositoryKind, Stamp, Unit};
use telemetry::Millis;

/// Milliseconds after which the journal has all that was to be changed at a moment: far more than any change waits.
const SETTLES: i64 = 60_000;

impl Repositories {
    /// What the answer to `ask` will be made from, or `None` where it is never a page. Taken before the work. It ends when an
    /// exception of a policy does; the end of a cooldown is known to whoever looks at what is young.
    pub fn stamp(&self, ask: &Ask<'_>) -> Option<Stamp> {
        let now = self.clock.now();
        // A change of that moment may still be on its way into the journal.
        if ask.repository.as_of.is_some_and(|past| past.until <= now && now.0 - past.until.0 < SETTLES) {
            return None;
        }
        let stamp = self.made_from(ask)?;
        Some(ask.repository.ends(now).map_or(stamp, |ends| stamp.until(ends)))
    }

    /// From when on an answer may be another, where that is known. What an upstream does not list is asked for again soon: nothing tells
    /// that it lists it now.
    pub fn fresh_until(&self, ask: &Ask<'_>, answer: &Result<Found, Error>) -> Option<Millis> {
        let error = match answer {
            Ok(found) => return found.fresh_until(),
            Err(error) => error,
        };
        let repository = &ask.repository;
        let may_be_listed = matches!(ask.question, Question::Gem(_))
            && repository.record.kind != RepositoryKind::Hosted
            && repository.as_of.is_none();
        error.fresh_until().or_else(|| may_be_listed.then(|| Millis(self.clock.now().0 + RECENT_MS)))
    }

    fn made_from(&self, ask: &Ask<'_>) -> Option<Stamp> {
        match &ask.question {
            Question::Gem(question) => self.gem_made_from(question, ask),
            Question::ClientSettings => Some(ask.settings),
            Question::Tree(question) => self.file_made_from(question, ask),
        }
    }

    fn gem_made_from(&self, question: &gem::Question<'_>, ask: &Ask<'_>) -> Option<Stamp> {
        let id = ask.repository.id;
        let unit = match *question {
            gem::Question::Root => return Some(ask.settings),
            gem::Question::Versions | gem::Question::Names => Unit::All(id),
            gem::Question::Info(name) => Unit::Of(id, name),
            gem::Question::Call(call, _) => Unit::Of(id, call.gem()?),
            gem::Question::Gemspec(full_name) | gem::Question::Gem(full_name) => {
                return self.any_of(id, full_name)?.join(&ask.settings);
            }
            gem::Question::Specs(_) | gem::Question::Download(_) | gem::Question::Dependencies(_) => return None,
            gem::Question::Push | gem::Question::Yank | gem::Question::Own(..) => return None,
        };
        self.store.revisions().stamp(&[unit], self.until(ask))?.join(&ask.settings)
    }

    fn file_made_from(&self, question: &tree::Question<'_>, ask: &Ask<'_>) -> Option<Stamp> {
        let (id, kind) = (ask.repository.id, ask.repository.record.kind);
        let file = match question {
            tree::Question::Root => return Some(ask.settings),
            tree::Question::Fetch(file) => file,
            tree::Question::Deploy(_) | tree::Question::Delete(_) => return None,
        };
        let unit = match kind {
            RepositoryKind::Remote => Unit::Of(id, file.folder),
            RepositoryKind::Hosted | RepositoryKind::Group => file.unit(id),
        };
        let until = self.until(ask);
        let stamp = |unit: Unit<'_>| self.store.revisions().stamp(&[unit], until);
        let made = stamp(unit)?.join(&ask.settings)?;
        // Whose a name is, where hosted members and upstreams may have it. What may be of many names is never a page.
        match kind {
            RepositoryKind::Group => file.guarded().try_fold(made, |made, name| match name {
                Guarded::Folder(folder) => made.join(&stamp(Unit::Of(id, folder))?),
                // It changes with its own folder.
                Guarded::Path(_) => Some(made),
            }),
            RepositoryKind::Hosted | RepositoryKind::Remote => Some(made),
        }
    }

    /// The latest moment until which an answer may count as proven by somebody else.
    fn until(&self, ask: &Ask<'_>) -> Millis {
        match ask.repository.record.kind {
            RepositoryKind::Remote | RepositoryKind::Group => Millis(self.clock.now().0 + TOUCH_INTERVAL_MS),
            RepositoryKind::Hosted => Millis(i64::MAX),
        }
    }

    /// The stamp of what is known by a full name: it may be a version of any of a few gems.
    fn any_of(&self, id: RepositoryId, full_name: &str) -> Option<Stamp> {
        let units: Vec<_> = spelling::readings(full_name).map(|reading| Unit::Of(id, reading.name)).collect();
        let few = (1..=spelling::READINGS).contains(&units.len());
        few.then(|| self.store.revisions().stamp(&units, Millis(i64::MAX)))?
    }
}
