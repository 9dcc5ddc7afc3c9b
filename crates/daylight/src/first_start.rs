//! The content of a new data folder: its first repositories and an admin token.

use crate::access::{self, Access, NewToken};
use crate::config::{Secret, Upstream};
use anyhow::Context;
use format::gem::info::FormatVersion;
use repository::Scope;
use repository::{RemoteRecord, RepositoryRecord};
use repository::{Repositories, VersionPolicy};
use store::{RepositoryKind, Seq, Store};
use telemetry::{Event, Millis};

/// The name of the first remote repository.
pub(crate) const MAVEN_CENTRAL: &str = "maven-central";
/// The name of the first group.
const MAVEN: &str = "maven";
/// The name of the admin token.
const ADMIN: &str = "admin";
/// The name under which the journal records them.
pub(crate) const BY: &str = "daylight";

/// What [`prepare`] made.
#[derive(Debug, Default)]
pub struct FirstContent {
    /// The new admin token, if one was generated.
    pub admin_token: Option<Secret>,
    /// The names of the repositories.
    pub repositories: Vec<String>,
}

/// Makes the first repositories, all or none, in a folder without any changes, and an admin token in a folder without one. So neither a
/// crash between the two nor the expiry of the last admin token locks everybody out. An admin token from the settings
/// (`DAYLIGHT_ADMIN_TOKEN`) is put in force at every start.
pub(crate) async fn prepare(
    store: &Store,
    admin_token: Option<&Secret>,
    info_format: FormatVersion,
    upstream: &Upstream,
    repositories: &Repositories,
    access: &Access,
    event: &mut Event,
) -> Result<FirstContent, anyhow::Error> {
    let mut made = FirstContent::default();
    if store.last() == Seq(0) {
        let all = first_repositories(info_format, upstream);
        made.repositories = all.iter().map(|record| record.name.clone()).collect();
        repositories.add_all(all, BY, event).await.context("cannot make the first repositories")?;
    }
    match admin_token {
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

/// Makes an admin token with the given secret, or with a new one, in place of any other with its name.
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
