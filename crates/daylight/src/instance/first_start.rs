//! The content of a new data folder: its first repositories and an admin token.

use crate::access::{Access, NewToken};
use crate::config::{Secret, Upstream};
use anyhow::Context;
use format::gem::info::FormatVersion;
use repository::{Author, ChangeSource, Scope};
use repository::{RemoteRecord, RepositoryRecord};
use repository::{Repositories, VersionPolicy};
use store::{CommitError, Expect, RepositoryKind, Seq, Store};
use telemetry::{Event, Millis};

/// The name of the default remote Maven repository.
pub(crate) const MAVEN_CENTRAL: &str = "maven-central";
/// The name of the default remote gem repository.
pub(crate) const RUBYGEMS: &str = "rubygems";
/// The names of the default groups, each with its format. A group joins all default repositories of its format.
const GROUPS: [(&str, &str); 2] = [("maven", "maven"), ("gems", "gem")];
/// The name of the admin token.
const ADMIN: &str = "admin";
/// Maximum number of attempts while other processes change the folder.
const TRIES: usize = 100;

/// What [`prepare`] made.
#[derive(Debug, Default)]
pub struct FirstContent {
    /// The new admin token, if one was generated.
    pub admin_token: Option<Secret>,
    /// The names of the repositories.
    pub repositories: Vec<String>,
}

/// Creates the default repositories in an empty folder, and an admin token in a folder without one. An admin token from
/// the settings (`DAYLIGHT_ADMIN_TOKEN`) is applied at every start.
///
/// All of it is one batch, so a crash leaves everything or nothing, and nobody is locked out. The batch expects that
/// nothing has changed since the folder was read; otherwise the folder is read again.
pub(crate) async fn prepare(
    store: &Store,
    admin_token: Option<&Secret>,
    first_repositories: Vec<RepositoryRecord>,
    repositories: &Repositories,
    access: &Access,
    from: ChangeSource,
    event: &mut Event,
) -> Result<FirstContent, anyhow::Error> {
    let author = Author { by: Author::DAYLIGHT, from };
    for _ in 0..TRIES {
        let (seq, at) = (store.last(), store.now());
        let (mut made, mut changes) = (FirstContent::default(), Vec::new());
        if seq == Seq(0) {
            made.repositories = first_repositories.iter().map(|record| record.name.clone()).collect();
            let creation = repositories.creation(first_repositories.clone(), at, event).await;
            changes = creation.context("cannot make the first repositories")?.1;
        }
        let has_admin = match admin_token {
            Some(secret) => access.is_admin(secret, event).await?,
            None => access.has_admin(event).await?,
        };
        if !has_admin {
            let replacement = access.replacement(admin(), admin_token.cloned(), event).await;
            let (token, more) = replacement.context("cannot make the admin token")?;
            made.admin_token = Some(token.secret).filter(|_| admin_token.is_none());
            changes.extend(more);
        }
        if changes.is_empty() {
            return Ok(made);
        }
        match store.commit(author.batch(at, vec![Expect::JournalAt(seq)], changes), event).await {
            Ok(_) => return Ok(made),
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => {
                return Err(error).context("cannot write the first repositories and the admin token");
            }
        }
    }
    anyhow::bail!("cannot make the admin token: others change the folder all the time")
}

/// The repositories of a new folder.
pub(crate) fn first_repositories(info_format: FormatVersion, upstream: &Upstream) -> Vec<RepositoryRecord> {
    let hosted = |name, format| RepositoryRecord::new(name, format, RepositoryKind::Hosted, Millis(0));
    let versions = |policy: VersionPolicy| Some(policy.as_str().to_owned());
    let remote = |name, format, urls| RepositoryRecord {
        remote: Some(Box::new(RemoteRecord { urls, ..RemoteRecord::default() })),
        ..RepositoryRecord::new(name, format, RepositoryKind::Remote, Millis(0))
    };
    let gems = upstream.rubygems.0.iter().map(|url| url.0.clone()).collect();
    let mut all = vec![
        RepositoryRecord { info_format: Some(info_format.as_str().to_owned()), ..hosted("gems-private", "gem") },
        RepositoryRecord { versions: versions(VersionPolicy::Releases), ..hosted("maven-releases", "maven") },
        RepositoryRecord { versions: versions(VersionPolicy::Snapshots), ..hosted("maven-snapshots", "maven") },
        remote(MAVEN_CENTRAL, "maven", vec![upstream.maven_central.0.clone()]),
        remote(RUBYGEMS, "gem", gems),
    ];
    for (name, format) in GROUPS {
        let members = all.iter().filter(|record| record.format == format).map(|record| record.name.clone()).collect();
        all.push(RepositoryRecord { members, ..RepositoryRecord::new(name, format, RepositoryKind::Group, Millis(0)) });
    }
    all
}

fn admin() -> NewToken {
    NewToken { name: ADMIN.into(), owner: Author::DAYLIGHT.into(), scopes: vec![Scope::Admin], ..NewToken::default() }
}

#[cfg(test)]
mod tests;
