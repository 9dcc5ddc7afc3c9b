//! What an answer is made from: the revisions that it holds with, and for how long.

use super::Repositories;
use crate::{Ask, Question, hosted};
use format::gem::spelling;
use store::{RepositoryId, RepositoryKind, Stamp, Unit};
use telemetry::Millis;

/// What is kept of an upstream is looked for again after so many milliseconds, though it cannot have changed: what is asked for all
/// the time must not seem to be what was used longest ago, which goes first.
const COUNTS_AS_USED: i64 = 3_600_000;

impl Repositories {
    /// What the answer to `ask` will be made from, or `None` where it is never a page. Taken before the work.
    pub fn stamp(&self, ask: &Ask) -> Option<Stamp> {
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
            Question::Fetch(path) if ask.repository.record.kind == RepositoryKind::Hosted => {
                hosted::file_unit(id, path)
            }
            Question::Fetch(path) => Unit::Of(id, format::tree::folder(path)),
            Question::Deploy(_) | Question::Delete(_) => return None,
        };
        let until = match ask.repository.record.kind {
            RepositoryKind::Remote => Millis(self.clock.now().0 + COUNTS_AS_USED),
            _ => Millis(i64::MAX),
        };
        self.store.revisions().stamp(&[unit], until)?.join(&ask.settings)
    }

    /// The stamp of what is known by a full name: it may be a version of any of a few gems.
    fn any_of(&self, id: RepositoryId, full_name: &str) -> Option<Stamp> {
        let units: Vec<_> = spelling::readings(full_name).map(|reading| Unit::Of(id, reading.name)).collect();
        let few = (1..=spelling::READINGS).contains(&units.len());
        few.then(|| self.store.revisions().stamp(&units, Millis(i64::MAX)))?
    }
}
