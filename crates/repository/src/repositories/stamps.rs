//! The stamp of an answer: the revisions that it depends on, and the end of its validity.

use crate::client_settings::ClientSettings;
use crate::error::Result;
use crate::found::Found;
use crate::gem;
use crate::gem::upstream::look::RECENT_MS;
use crate::question::{Ask, Question};
use crate::repositories::Repositories;
use crate::tree;
use crate::tree::facts::Guarded;
use crate::upstream::TOUCH_INTERVAL_MS;
use format::gem::spelling;
use store::{RepositoryId, RepositoryKind, Stamp, Unit};
use telemetry::Millis;

/// Milliseconds after which the journal contains every change of a moment: far longer than any change waits.
const SETTLES: i64 = 60_000;

impl Repositories {
    /// The stamp of the answer to `ask`; `None`: the answer is never a page. Take it before the work. It ends with the
    /// next exception of a policy. The end of a cooldown is added when the versions are read.
    pub fn stamp(&self, ask: &Ask<'_>) -> Option<Stamp> {
        let is_new = |moment: Millis| {
            let now = self.services.clock.now();
            moment <= now && now.0 - moment.0 < SETTLES
        };
        // A change of that moment may not be in the journal yet.
        if ask.repository.as_of.is_some_and(|past| is_new(past.until)) {
            return None;
        }
        let stamp = self.made_from(ask)?;
        let ends = ask.repository.has_exceptions().then(|| ask.repository.ends(self.services.clock.now())).flatten();
        Some(ends.map_or(stamp, |ends| stamp.until(ends)))
    }

    /// When an answer may change, if that is known. A name that an upstream does not list expires soon, because the
    /// upstream may list it at any time.
    pub fn fresh_until(&self, ask: &Ask<'_>, answer: &Result<Found>) -> Option<Millis> {
        let error = match answer {
            Ok(found) => return found.fresh_until(),
            Err(error) => error,
        };
        let repository = &ask.repository;
        let may_be_listed = matches!(ask.question, Question::Gem(_))
            && repository.record.kind != RepositoryKind::Hosted
            && repository.as_of.is_none();
        error.fresh_until().or_else(|| may_be_listed.then(|| Millis(self.services.clock.now().0 + RECENT_MS)))
    }

    fn made_from(&self, ask: &Ask<'_>) -> Option<Stamp> {
        match &ask.question {
            Question::Gem(question) => self.gem_made_from(question, ask),
            Question::Root | Question::ClientSettings(ClientSettings::Maven) => Some(ask.settings),
            Question::ClientSettings(ClientSettings::Gem(_)) => None,
            Question::Tree(question) => self.file_made_from(question, ask),
        }
    }

    fn gem_made_from(&self, question: &gem::Question<'_>, ask: &Ask<'_>) -> Option<Stamp> {
        let id = ask.repository.id;
        let unit = match *question {
            gem::Question::Versions | gem::Question::Names => Unit::All(id),
            gem::Question::Info(name) => Unit::Of(id, name),
            gem::Question::Call(call, _) => Unit::Of(id, call.gem()?),
            gem::Question::Gemspec(full_name) | gem::Question::Gem(full_name) => {
                return self.any_of(id, full_name)?.join(&ask.settings);
            }
            gem::Question::Specs(_) | gem::Question::Download(_) | gem::Question::Dependencies(_) => return None,
            gem::Question::Push | gem::Question::Yank | gem::Question::Unyank => return None,
            gem::Question::Own(..) | gem::Question::Attestations(_) => return None,
        };
        self.services.store.revisions().stamp([unit], self.until(ask)).join(&ask.settings)
    }

    fn file_made_from(&self, question: &tree::Question<'_>, ask: &Ask<'_>) -> Option<Stamp> {
        let (id, kind) = (ask.repository.id, ask.repository.record.kind);
        let file = match question {
            tree::Question::Fetch(file) => file,
            // A list may be large, and each change below the folder may change it.
            tree::Question::Folder(_) | tree::Question::Deploy(_) | tree::Question::Delete(_) => return None,
        };
        let unit = match kind {
            RepositoryKind::Remote => Unit::Of(id, file.folder),
            RepositoryKind::Hosted | RepositoryKind::Group => file.unit(id),
        };
        let until = self.until(ask);
        let stamp = |unit: Unit<'_>| self.services.store.revisions().stamp([unit], until);
        let made = stamp(unit).join(&ask.settings)?;
        // The owner of a name depends on hosted members and upstreams. Of answers about many names only rendered documents are pages.
        let lists_names = file.document().is_some_and(|document| document.is_rendered());
        let made = if lists_names { made.join(&stamp(Unit::All(id)))? } else { made };
        match kind {
            RepositoryKind::Group => file.guarded().try_fold(made, |made, name| match name {
                Guarded::Folder(folder) => made.join(&stamp(Unit::Of(id, folder))),
                // It changes with its own folder.
                Guarded::Path(_) => Some(made),
            }),
            RepositoryKind::Hosted | RepositoryKind::Remote => Some(made),
        }
    }

    /// The latest moment until which an answer may count as confirmed by an upstream.
    fn until(&self, ask: &Ask<'_>) -> Millis {
        match ask.repository.record.kind {
            RepositoryKind::Remote | RepositoryKind::Group => Millis(self.services.clock.now().0 + TOUCH_INTERVAL_MS),
            RepositoryKind::Hosted => Millis(i64::MAX),
        }
    }

    /// The stamp of an answer for a full name, which may be a version of several gems.
    fn any_of(&self, id: RepositoryId, full_name: &str) -> Option<Stamp> {
        let revisions = self.services.store.revisions();
        let mut stamps = spelling::readings(full_name)
            .map(|reading| revisions.stamp([Unit::Of(id, reading.name)], Millis(i64::MAX)));
        // It ends at the first reading that does not fit.
        stamps.next().and_then(|first| stamps.try_fold(first, |made, next| made.join(&next)))
    }
}
