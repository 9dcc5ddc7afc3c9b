//! What a new data folder gets: a first repository and an admin token.

use crate::access::{Access, NewToken, Scope};
use crate::config::{Secret, Settings};
use crate::error::Error;
use crate::serve::{Extra, Opened};
use crate::sinks;
use anyhow::Context;
use format::gem::info::FormatVersion;
use repository::Repositories;
use std::path::PathBuf;
use store::{RepositoryKind, RepositoryRecord, Seq, Store};
use telemetry::{Clock, Event, Millis};

/// The repository that a new folder gets.
pub const FIRST_REPOSITORY: &str = "gems-private";
/// The name of the token that a new folder gets.
pub const ADMIN: &str = "admin";
/// Who makes them, in the journal.
pub(crate) const BY: &str = "daylight";

/// What was made.
#[derive(Debug)]
pub struct InitReport {
    /// The folder.
    pub data: PathBuf,
    /// The admin token, where one was made up now: the only time it is seen.
    pub admin_token: Option<Secret>,
    /// Names of the repositories that were made now.
    pub repositories: Vec<String>,
}

/// Makes the folder, the first repository and the admin token, without serving.
pub fn init(settings: &Settings) -> Result<InitReport, anyhow::Error> {
    let clock = Clock::default();
    let (log, _) = sinks::log(settings, &clock);
    let opened = Opened::open(settings, log, Extra { clock, ..Extra::default() })?;
    let made = InitReport {
        data: settings.store.data.clone(),
        admin_token: opened.first.admin_token.clone(),
        repositories: opened.first.repositories.clone(),
    };
    opened.close();
    Ok(made)
}

/// What [`first`] made.
#[derive(Debug, Default)]
pub struct First {
    /// The admin token, where one was made up.
    pub admin_token: Option<Secret>,
    /// Names of the repositories.
    pub repositories: Vec<String>,
}

/// Gives a folder in which nothing was ever changed its first repository, and one without a token that may do
/// everything an admin token: so neither a crash between the two nor the end of the last such token locks anybody out. A given admin token is put
/// in force at every start, as whoever sets `DAYLIGHT_ADMIN_TOKEN` expects.
pub async fn first(
    store: &Store,
    (given, info_format): (Option<&Secret>, FormatVersion),
    repositories: &Repositories,
    access: &Access,
    event: &mut Event,
) -> Result<First, anyhow::Error> {
    let mut made = First::default();
    if store.last() == Seq(0) {
        let info_format = Some(info_format.as_str().to_owned());
        let gems = RepositoryRecord::new(FIRST_REPOSITORY, "gem", RepositoryKind::Hosted, Millis(0));
        let gems = RepositoryRecord { info_format, ..gems };
        let repository = repositories.add(gems, BY, event).await.context("cannot make the first repository")?;
        made.repositories.push(repository.record.name.clone());
    }
    match given {
        Some(secret) if access.is_admin(secret, event).await? => {}
        Some(secret) => replace(Some(secret.clone()), access, event).await.map(drop)?,
        None if access.has_admin(event).await? => {}
        None => made.admin_token = Some(replace(None, access, event).await?),
    }
    Ok(made)
}

/// Puts an admin token in force, with the given secret or a new one, in place of any other of its name.
async fn replace(secret: Option<Secret>, access: &Access, event: &mut Event) -> Result<Secret, anyhow::Error> {
    match access.revoke(ADMIN, BY, event).await {
        Ok(()) | Err(Error::NoSuchToken(_)) => {}
        Err(error) => return Err(error).context("cannot replace the admin token"),
    }
    Ok(access.create(admin(), secret, BY, event).await.context("cannot make the admin token")?.secret)
}

fn admin() -> NewToken {
    NewToken { name: ADMIN.into(), owner: BY.into(), scopes: vec![Scope::Admin], ..NewToken::default() }
}
