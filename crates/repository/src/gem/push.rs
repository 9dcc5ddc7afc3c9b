//! Publishes a gem: reads it, stores its bytes, then commits a change. The bytes are synced first, so that no row ever
//! points at bytes that are not on disk; the acknowledgement comes last.

use crate::actor::Actor;
use crate::error::purged::Purged;
use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::hosted::Hosted;
use crate::gem::info_lines::{facts, info_line, render_info, versions_line};
use crate::gem::owners::claim;
use crate::gem::push_cache::GemState;
use crate::gem::shadowing::refuse_shadowing;
use crate::origin::differs;
use crate::parameters::Parameters;
use crate::policy::package_version::{PackageVersion, Since};
use crate::policy::unseen::unseen;
use crate::repository::Repository;
use crate::visible;
use crate::workers::aside;
use crate::write_conditions::{Present, WriteConditions};
use format::gem::{self, Package, info::FormatVersion};
use std::sync::Arc;
use store::{
    Batch, Change, CommitError, Digest, Entry, EntryOrigin, Expect, Facts, Hashes, KeptBlob, Lane, Seq, Staged, State,
    UnitRows, Withdrawal,
};
use telemetry::{Event, Millis, Op};

/// Maximum number of attempts of a push. Each failed attempt means that another push of the same gem succeeded, so only
/// a crowd that pushes one gem at once can come near it.
const TRIES: usize = 100;

/// Publishes the upload. If the gem is already published with the same bytes, the entry gets the claimed origin.
pub(crate) async fn push(
    hosted: Hosted<'_>,
    staged: Staged,
    parameters: &Parameters<'_>,
    by: Actor<'_>,
    event: &mut Event,
) -> Result<Found> {
    let Hosted { services, store, repository, .. } = hosted;
    // The dates of changes come from the journal, which never goes back in time.
    let now = || store.now();
    let package = Arc::new(read(hosted, &staged, parameters.origin.is_some(), event).await?);
    let full_name = package.full_name();
    event.subject.package = package.name.as_str().into();
    event.subject.version = full_name.as_str().into();
    by.may_change(&package.name)?;
    if let Some(why) =
        repository.rules.forbids(&PackageVersion::gem(&package.name, package.number.as_str(), Since::Always))
    {
        return Err(why.into());
    }

    let sha256 = staged.sha256()?;
    let origin = parameters.origin.map(|claimed| claimed.accept(by, now())).transpose()?;
    let upload = Upload { package: package.clone(), sha256, origin, conditions: parameters.conditions.cloned() };
    let mut from = match load_state(hosted, &upload, event).await? {
        Ok(from) => from,
        Err(said) => {
            store.bring_back(staged, event).await.map_err(Error::Unsaved)?;
            return Ok(said);
        }
    };
    if let Some(there) = store.entry_in_any_case(repository.id, &full_name, event).await?
        && !from.is_published()
    {
        // Another push may have published it since. The state of a third one, which does not know it, may be cached again already.
        from = match load_unit(hosted, &upload, event).await? {
            Ok(from) => from,
            Err(said) => return Ok(said),
        };
        // `a` 1.0 for platform `2` and `a-1.0` 2 have the same full name, and so the same URL.
        if !from.is_published() {
            return Err(stays_taken(&there));
        }
    }
    if let Some(there) = store.unit_in_other_case(repository.id, &package.name, event).await? {
        return Err(Error::OtherCase { name: package.name.clone(), there });
    }
    let not_compared = match from.is_new() {
        true => refuse_shadowing(services, repository, &package.name, hosted.settings, by.admin, event).await?,
        false => None,
    };
    let KeptBlob { hashes, hold } = store.keep(staged, event).await.map_err(Error::Unsaved)?;
    let mut repository = repository.clone();
    for _ in 0..TRIES {
        let set = Hosted { repository: &repository, ..hosted };
        let claim = claim(set, &package.name, from.is_new(), by, event).await?;
        let published = from.is_published();
        let (entry, seq, state) = build_entry(set, from, &upload, &hashes, &now, event).await?;
        let at = entry.changed;
        let what = PackageVersion::gem(&package.name, package.number.as_str(), Since::Moment(entry.first_published()));
        let unseen = unseen(services, &repository, &what, by.admin, event).await?;
        let notices: String = not_compared.iter().chain(&unseen).map(|notice| format!("\n{notice}")).collect();
        let mut expect = vec![
            // The line contains the MD5 of `/info` in the format of the settings.
            repository.unchanged(),
            Expect::UnitAt { repository: repository.id, unit: package.name.clone(), seq },
            Expect::UnitSpeltOneWay { repository: repository.id, unit: package.name.clone() },
        ];
        if !published {
            // This was checked before, but concurrent pushes may have changed it.
            expect.push(Expect::KeyFreeInAnyCase { repository: repository.id, key: full_name.clone() });
        }
        let changes = [Change::Entry { repository: repository.id, entry }].into_iter().chain(claim).collect();
        let batch = Batch { holds: vec![hold.clone()], ..by.batch(at, expect, changes) };
        match store.commit(batch, event).await {
            Ok(seq) => {
                match state {
                    Some(state) => hosted.push_cache.put(repository.id, &package.name, state.made_by(seq)),
                    None => hosted.push_cache.forget(repository.id, &package.name),
                }
                return Ok(Found::Said(match published {
                    true => format!("Gem was already pushed: {}; its origin was set", spoken(&package)),
                    false => format!("Successfully registered gem: {}{notices}", spoken(&package)),
                }));
            }
            Err(CommitError::Conflict(conflict)) => match conflict.0 {
                // Another change already has a later date.
                Expect::NoChangeAfter(_) => {}
                Expect::UnitAt { seq, .. } => hosted.push_cache.forget_through(repository.id, &package.name, seq),
                Expect::KeyFreeInAnyCase { .. } => return Err(Error::Taken(full_name)),
                Expect::UnitSpeltOneWay { unit, .. } => {
                    let there = store.unit_in_other_case(repository.id, &unit, event).await?;
                    return Err(Error::OtherCase { name: unit.clone(), there: there.unwrap_or(unit) });
                }
                _ => repository = services.again(hosted.repository, event).await?,
            },
            Err(CommitError::Error(error)) => return Err(Error::Unsaved(error)),
        }
        from = match load_state(Hosted { repository: &repository, ..hosted }, &upload, event).await? {
            Ok(from) => from,
            Err(said) => return Ok(said),
        };
    }
    Err(Error::Contended(package.name.clone()))
}

/// The upload.
#[derive(Clone)]
struct Upload {
    package: Arc<Package>,
    sha256: Digest,
    origin: Option<EntryOrigin>,
    conditions: Option<WriteConditions>,
}

impl Upload {
    /// Refuses the push if a condition does not hold for the version as it is.
    fn check(&self, full_name: &str, there: Option<&Entry>) -> Result<()> {
        let Some(conditions) = &self.conditions else { return Ok(()) };
        let live = there.filter(|entry| entry.state == State::Live);
        // A gem is answered without a date.
        let present = live.map(|entry| Present { tag: entry.hashes.sha256.to_string(), modified: None });
        Ok(conditions.check(full_name, present.as_ref())?)
    }
}

/// The state that a push continues from: the cached state of the gem if it is sufficient, otherwise all its versions.
enum Next {
    State(Arc<GemState>),
    Unit(Arc<UnitRows>),
    /// The entry at this index has the same bytes and another origin.
    Published(Arc<UnitRows>, usize),
}

/// The part of a version that is published already.
enum Duplicate {
    /// All of it: this is the answer.
    Whole(Found),
    /// Its bytes. The entry at this index has another origin.
    OtherOrigin(usize),
}

impl Next {
    /// Whether the gem has no version yet.
    fn is_new(&self) -> bool {
        matches!(self, Next::Unit(unit) if unit.entries.is_empty())
    }

    /// Whether the version is published, and only its origin changes.
    fn is_published(&self) -> bool {
        matches!(self, Next::Published(..))
    }
}

/// The state that the push can continue from, or the answer if the version is published already.
async fn load_state(hosted: Hosted<'_>, upload: &Upload, event: &mut Event) -> Result<Result<Next, Found>> {
    match hosted.push_cache.for_push(hosted.repository, &upload.package) {
        Some(state) => {
            upload.check(&upload.package.full_name(), None)?;
            Ok(Ok(Next::State(state)))
        }
        None => load_unit(hosted, upload, event).await,
    }
}

/// The same, read from the store.
async fn load_unit(hosted: Hosted<'_>, upload: &Upload, event: &mut Event) -> Result<Result<Next, Found>> {
    let package = &upload.package;
    let unit = Arc::new(hosted.store.unit(hosted.repository.id, &package.name, Lane::Change, event).await?);
    Ok(match find_duplicate(hosted, &unit, upload, event).await? {
        Some(Duplicate::Whole(said)) => Err(said),
        Some(Duplicate::OtherOrigin(entry)) => Ok(Next::Published(unit, entry)),
        None => {
            upload.check(&package.full_name(), None)?;
            Ok(Next::Unit(unit))
        }
    })
}

/// Extracts the facts from the package on a thread that may block. A gem that was published elsewhere before need not
/// keep the rules for new ones, except for its name.
async fn read(hosted: Hosted<'_>, staged: &Staged, published: bool, event: &mut Event) -> Result<Package> {
    let file = staged.open()?;
    let read = move |(): &mut ()| match published {
        true => gem::package::read_installable(file, &gem::Limits::default()),
        false => gem::package::read(file, &gem::Limits::default()),
    };
    let package = hosted.context.workers.run(Lane::Change, Op::PackageRead, event, read).await??;
    gem::name::check(&package.name)?;
    Ok(package)
}

/// Finds out whether the version is published already, and which part of it.
async fn find_duplicate(
    hosted: Hosted<'_>,
    unit: &Arc<UnitRows>,
    upload: &Upload,
    event: &mut Event,
) -> Result<Option<Duplicate>> {
    let (unit, upload) = (unit.clone(), upload.clone());
    let (workers, rows) = (&hosted.context.workers, unit.entries.len());
    let look = move || taken(&unit, &upload);
    aside(workers, Lane::Change, Op::FactsRead, rows, event, look).await
}

/// The new entry, the last change of its gem that the commit expects, and the state of the gem after it.
async fn build_entry(
    hosted: Hosted<'_>,
    next: Next,
    upload: &Upload,
    hashes: &Hashes,
    now: impl Fn() -> Millis,
    event: &mut Event,
) -> Result<(Entry, Seq, Option<GemState>)> {
    let (workers, repository) = (&hosted.context.workers, hosted.repository);
    let (seen_by, at) = (repository.clone(), now());
    let state = match next {
        Next::State(state) => state,
        Next::Unit(unit) => {
            let rows = unit.entries.len();
            let read = move || GemState::of(&unit, &seen_by, at);
            let state = aside(workers, Lane::Change, Op::IndexRender, rows, event, read).await?;
            // Kept for another attempt.
            hosted.push_cache.put(repository.id, &upload.package.name, state.clone());
            Arc::new(state)
        }
        Next::Published(unit, there) => {
            let (rows, seq, upload) = (unit.entries.len(), unit.seq, upload.clone());
            let redate = move || redated(&unit, there, &seen_by, &upload, at);
            let entry = aside(workers, Lane::Change, Op::IndexRender, rows, event, redate).await?;
            return Ok((Entry { changed: now(), ..entry }, seq, None));
        }
    };
    // Taken as late as possible: no other change may get a later date before this one commits.
    let at = now();
    if let Some(at) = state.moment_of_next(&upload.package, at) {
        return event.time(Op::IndexExtend, || published(&state, upload, hashes, at));
    }
    let unit = hosted.store.unit(repository.id, &upload.package.name, Lane::Change, event).await?;
    let (rows, at) = (unit.entries.len(), now());
    let (upload, hashes) = (upload.clone(), hashes.clone());
    let seen_by = repository.clone();
    let enter = move || inserted(&unit, &seen_by, &upload, &hashes, at);
    let entry = aside(workers, Lane::Change, Op::IndexRender, rows, event, enter).await?;
    Ok((entry, state.seq, None))
}

/// Published versions are immutable: the same bytes succeed again, other bytes are refused. `1.0` and `1.0.0` are the
/// same version.
fn taken(unit: &UnitRows, upload: &Upload) -> Result<Option<Duplicate>> {
    let package = &upload.package;
    for (index, entry) in unit.entries.iter().enumerate() {
        let there = facts(entry)?;
        if there.platform != package.platform || there.number != package.number {
            continue;
        }
        upload.check(&entry.key, Some(entry))?;
        if entry.state == State::Live && entry.hashes.sha256 == upload.sha256 {
            return Ok(Some(match differs(upload.origin.as_ref(), entry.origin.as_deref()) {
                true => Duplicate::OtherOrigin(index),
                false => Duplicate::Whole(Found::Said(format!("Gem was already pushed: {}", spoken(package)))),
            }));
        }
        return Err(stays_taken(entry));
    }
    Ok(None)
}

fn stays_taken(entry: &Entry) -> Error {
    match (entry.state, &entry.withdrawal) {
        (State::Live, _) => Error::Taken(entry.key.clone()),
        (State::Withdrawn, Some(Withdrawal::Purged { why })) => {
            Purged::Taken { what: entry.key.clone(), why: why.clone() }.into()
        }
        (State::Withdrawn, _) => Error::TakenByWithdrawn(entry.key.clone()),
    }
}

/// The new entry, if its line in `/info` comes last.
fn published(state: &GemState, upload: &Upload, hashes: &Hashes, at: Millis) -> Result<(Entry, Seq, Option<GemState>)> {
    let (package, entry) = (&upload.package, entry(upload, hashes, at)?);
    let after = state.after(package, at, &info_line(package, hashes, entry.first_published(), state.format));
    let entry = announced(entry, package, &after.md5());
    Ok((entry, state.seq, Some(after)))
}

/// The new entry, if its line in `/info` comes between others: the clock was set back, and an earlier program wrote a
/// line with a date that the journal has not reached again.
fn inserted(unit: &UnitRows, repository: &Repository, upload: &Upload, hashes: &Hashes, at: Millis) -> Result<Entry> {
    let entry = entry(upload, hashes, at)?;
    let after = [unit.entries.as_slice(), std::slice::from_ref(&entry)].concat();
    let md5 = gem::info::md5_hex(&render_info(visible(&after, repository.whole(at)), repository.info_format())?);
    Ok(announced(entry, &upload.package, &md5))
}

/// The published entry at `there` with the claimed origin. If `/info` has dates, the line of the version changes in its
/// place, and `/versions` gets a new line.
fn redated(unit: &UnitRows, there: usize, repository: &Repository, upload: &Upload, at: Millis) -> Result<Entry> {
    let mut after = unit.entries.clone();
    let entry = after.get_mut(there).ok_or(Error::GivenUp)?;
    let origin = upload.origin.clone().map(Box::new);
    *entry = Entry { origin, changed: at, line: None, ..entry.clone() };
    let entry = entry.clone();
    let format = repository.info_format();
    if format == FormatVersion::V1 {
        return Ok(entry);
    }
    let md5 = gem::info::md5_hex(&render_info(visible(&after, repository.whole(at)), format)?);
    let package = facts(&entry)?;
    let line = gem::versions::replacing_line(&entry.unit, package.number.as_str(), &package.platform, &md5);
    Ok(Entry { line: Some(line), ..entry })
}

fn entry(upload: &Upload, hashes: &Hashes, at: Millis) -> Result<Entry> {
    let package = &upload.package;
    let key = package.full_name();
    let mut facts =
        serde_json::to_value(&**package).map_err(|source| Error::Unreadable { key: key.clone(), source })?;
    facts[Facts::BRIEF] = gem::dependencies::brief(package).into();
    let (unit, hashes) = (package.name.clone(), hashes.clone());
    let origin = upload.origin.clone().map(Box::new);
    Ok(Entry { facts, origin, ..Entry::live(unit, key, hashes, at) })
}

/// The entry with its line for `/versions`, which contains the MD5 of `/info` after this push.
fn announced(entry: Entry, package: &Package, md5: &str) -> Entry {
    Entry { line: Some(versions_line(package, md5)), ..entry }
}

/// The gem in the form of `gem push`: `rack (3.0.0)`, `nokogiri (1.18.9-java)`.
fn spoken(package: &Package) -> String {
    match package.platform.as_str() {
        "ruby" => format!("{} ({})", package.name, package.number),
        platform => format!("{} ({}-{platform})", package.name, package.number),
    }
}
