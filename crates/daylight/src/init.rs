//! What a new data folder gets: its first repositories and an admin token.

use crate::access::{self, Access, NewToken};
use crate::config::{Secret, Settings, Upstream};
use crate::serve::{Extra, Opened};
use crate::sinks;
use anyhow::Context;
use format::gem::info::FormatVersion;
use repository::Scope;
use repository::{Repositories, VersionPolicy};
use std::path::PathBuf;
use store::{RemoteRecord, RepositoryKind, RepositoryRecord, Seq, Store};
use telemetry::{Clock, Event, Millis};

/// The remote repository that a new folder gets.
pub(crate) const MAVEN_CENTRAL: &str = "maven-central";
/// The group that a new folder gets.
const MAVEN: &str = "maven";
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

/// Makes the folder, the first repositories and the admin token, without serving.
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

/// Gives a folder in which nothing was ever changed its first repositories, all or none, and one without a token that may
/// do everything an admin token: so neither a crash between the two nor the end of the last such token locks anybody out.
/// A given admin token is put in force at every start, as whoever sets `DAYLIGHT_ADMIN_TOKEN` expects.
pub async fn first(
    store: &Store,
    (given, info_format, upstream): (Option<&Secret>, FormatVersion, &Upstream),
    repositories: &Repositories,
    access: &Access,
    event: &mut Event,
) -> Result<First, anyhow::Error> {
    let mut made = First::default();
    if store.last() == Seq(0) {
        let all = first_repositories(info_format, upstream);
        made.repositories = all.iter().map(|record| record.name.clone()).collect();
        repositories.add_all(all, BY, event).await.context("cannot make the first repositories")?;
    }
    match given {
        Some(secret) if access.is_admin(secret, event).await? => {}
        Some(secret) => replace(Some(secret.clone()), access, event).await.map(drop)?,
        None if access.has_admin(event).await? => {}
        None => made.admin_token = Some(replace(None, access, event).await?),
    }
    Ok(made)
}

/// The repositories of a new folder.
fn first_repositories(info_format: FormatVersion, upstream: &Upstream) -> Vec<RepositoryRecord> {
    let hosted = |name, format| RepositoryRecord::new(name, format, RepositoryKind::Hosted, Millis(0));
    let versions = |policy: VersionPolicy| Some(policy.as_str().to_owned());
    let remote = RemoteRecord { urls: vec![upstream.maven_central.0.clone()], ..RemoteRecord::default() };
    let mut all = vec![
        RepositoryRecord { info_format: Some(info_format.as_str().to_owned()), ..hosted("gems-private", "gem") },
        RepositoryRecord { versions: versions(VersionPolicy::Releases), ..hosted("maven-releases", "maven") },
        RepositoryRecord { versions: versions(VersionPolicy::Snapshots), ..hosted("maven-snapshots", "maven") },
        RepositoryRecord {
            remote: Some(Box::new(remote)),
            ..RepositoryRecord::new(MAVEN_CENTRAL, "maven", RepositoryKind::Remote, Millis(0))
        },
    ];
    let group = RepositoryRecord::new(MAVEN, "maven", RepositoryKind::Group, Millis(0));
    let members = all.iter().filter(|record| record.format == group.format).map(|record| record.name.clone()).collect();
    all.push(RepositoryRecord { members, ..group });
    all
}

/// Puts an admin token in force, with the given secret or a new one, in place of any other of its name.
async fn replace(secret: Option<Secret>, access: &Access, event: &mut Event) -> Result<Secret, anyhow::Error> {
    match access.revoke(ADMIN, BY, event).await {
        Ok(()) | Err(access::Error::NoSuchToken(_)) => {}
        Err(error) => return Err(error).context("cannot replace the admin token"),
    }
    Ok(access.create(admin(), secret, BY, event).await.context("cannot make the admin token")?.secret)
}

fn admin() -> NewToken {
    NewToken { name: ADMIN.into(), owner: BY.into(), scopes: vec![Scope::Admin], ..NewToken::default() }
}
