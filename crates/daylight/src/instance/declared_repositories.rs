//! Applies the repositories that the configuration declares, at each start and on each reload.

use crate::config::{DeclaredRepository, Upstream, UpstreamUrl};
use crate::face::DefaultRemote;
use crate::formats;
use crate::settings_patch::credential_guard;
use format::gem::info::FormatVersion;
use repository::RepositoryRecord;
use repository::{
    Author, BadSetting, ChangedRepository, Decisions, Error, Format, FormerFiles, HiddenHosted, Repositories,
};
use telemetry::{Event, Log};

/// A repository cannot be as the file declares it.
#[derive(Debug, thiserror::Error)]
#[error("{place}: `{name}` cannot be put into force")]
pub(crate) struct DeclarationError {
    place: String,
    name: String,
    source: Error,
}

/// Creates the declared repositories that do not exist, and changes the settings of existing ones. Other repositories
/// are not changed.
pub(crate) async fn apply(
    declared: &[DeclaredRepository],
    repositories: &Repositories,
    info_format: FormatVersion,
    log: &Log,
    event: &mut Event,
) -> Result<(), DeclarationError> {
    for one in declared {
        let (place, name) = (one.place.clone(), one.definition.name.clone());
        apply_one(one, repositories, info_format, log, event).await.map_err(|source| DeclarationError {
            place,
            name,
            source,
        })?;
    }
    Ok(())
}

/// Sets the upstreams of the default remote repositories, if those still exist and the settings name an upstream. The default of a newer
/// version does not change an existing repository.
pub(crate) async fn set_default_upstreams(
    upstream: &Upstream,
    repositories: &Repositories,
    log: &Log,
    event: &mut Event,
) -> Result<(), Error> {
    for format in Format::ALL.iter().rev() {
        let remote = (formats::of(*format).default_remote)(upstream).filter(|remote| !remote.is_unchanged);
        let Some(DefaultRemote { name, url: Some(UpstreamUrl(url)), .. }) = remote else { continue };
        // A repository of another format, or of a Koji hub, only has the same name.
        let change = |record: &mut RepositoryRecord| match record.format == format.as_str() && record.koji().is_none() {
            true => set_first_url(record, url),
            false => Ok(()),
        };
        match set(name, change, repositories, log, event).await {
            Ok(_) | Err(Error::NoSuchRepository(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Changes the settings of an existing repository. Nobody can be asked here, so if the upstream gets another URL, the verified releases
/// stay in the cache, and the log says so.
async fn set(
    name: &str,
    change: impl Fn(&mut RepositoryRecord) -> Result<(), Error> + Send,
    repositories: &Repositories,
    log: &Log,
    event: &mut Event,
) -> Result<(), Error> {
    let decisions = Decisions { former_files: FormerFiles::KeepVerified, include_hosted: true };
    let ChangedRepository { repository: set, former, hidden, .. } =
        repositories.set_deciding(name, change, decisions, Author::SERVER, event).await?;
    if let Some(hidden) = hidden {
        tell_hidden(name, &hidden, log);
    }
    if let Some(cached) = former {
        let (lost_files, lost_bytes) = cached.lost(FormerFiles::KeepVerified);
        if cached.verified_files + lost_files == 0 {
            return Ok(()); // the cache is empty, as at the first start
        }
        let url = set.record.remote.as_ref().and_then(|remote| remote.file_urls().next()).cloned().unwrap_or_default();
        log.warn(
            "a repository has another upstream now: verified releases of the former one are kept, its other cached files are dropped",
            &[
                ("repository", &name),
                ("url", &url),
                ("kept_files", &cached.verified_files),
                ("kept_bytes", &cached.verified_bytes),
                ("lost_files", &lost_files),
                ("lost_bytes", &lost_bytes),
            ],
        );
    }
    Ok(())
}

/// The policy of a group hides versions of its hosted members.
fn tell_hidden(name: &str, hidden: &HiddenHosted, log: &Log) {
    let members = hidden.members.join(", ");
    log.warn(
        "the policy of a group applies to its hosted members, too",
        &[("repository", &name), ("members", &members), ("versions", &hidden.versions), ("hidden", &hidden.describe())],
    );
}

/// Sets the first URL of an upstream, unless that would send credentials to another host.
fn set_first_url(record: &mut RepositoryRecord, url: &str) -> Result<(), Error> {
    let before = record.clone();
    if let Some(remote) = record.remote.as_mut() {
        match remote.urls.first_mut() {
            Some(at) => url.clone_into(at),
            None => remote.urls.push(url.to_owned()),
        }
    }
    let (name, setting) = (&before.name, before.name.replace('-', "_"));
    let hint = format!(
        "start without `upstream.{setting}`, then `daylight repo set {name} --remote URL --credentials REFERENCE` sets the credentials \
         for that host (`none`: none)"
    );
    Ok(credential_guard::check_hosts(&before, record, &|_| false, &hint)?)
}

async fn apply_one(
    declared: &DeclaredRepository,
    repositories: &Repositories,
    info_format: FormatVersion,
    log: &Log,
    event: &mut Event,
) -> Result<(), Error> {
    let definition = &declared.definition;
    let existing = match repositories.find(&definition.name, event).await {
        Ok((existing, _)) => existing,
        Err(Error::NoSuchRepository(_)) => {
            let record = definition.record(info_format)?;
            let hidden = repository::hidden_by_new(repositories.services(), &record, event).await?;
            match repositories.add(record, Author::SERVER, event).await {
                // Another process created it first. The declared settings are applied to it.
                Err(Error::NameTaken(name)) => repositories.find(&name, event).await?.0,
                added => {
                    added?;
                    hidden.iter().for_each(|hidden| tell_hidden(&definition.name, hidden, log));
                    return Ok(());
                }
            }
        }
        Err(error) => return Err(error),
    };
    let (kind, format) = (existing.record.kind, &existing.record.format);
    if (kind, format) != (definition.kind()?, &definition.format) {
        let text = format!("it is there already, as a {} repository of format {format}", kind.as_str());
        return Err(BadSetting::new(text, "take another name, or remove it with all its content first").into());
    }
    let settings = definition.settings()?;
    set(&definition.name, |record| settings.apply(record), repositories, log, event).await?;
    if let Some(info_format) = settings.info_format()? {
        repository::reform(repositories.services(), &definition.name, info_format, Author::SERVER, event).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use repository::RemoteRecord;
    use store::RepositoryKind;
    use telemetry::Millis;

    #[test]
    fn the_default_upstream_is_not_changed_where_credentials_would_move() {
        let remote = RemoteRecord { urls: vec!["http://a/x".into(), "http://b".into()], ..RemoteRecord::default() };
        let open = RepositoryRecord::new("maven-central", "maven", RepositoryKind::Remote, Millis(0));
        let mut open = RepositoryRecord { remote: Some(Box::new(remote.clone())), ..open };
        let closed = RemoteRecord { credentials: Some("env:A".into()), ..remote };
        let mut closed = RepositoryRecord { remote: Some(Box::new(closed)), ..open.clone() };
        set_first_url(&mut open, "http://c").unwrap();
        assert_eq!(open.remote.unwrap().urls, ["http://c", "http://b"]);
        set_first_url(&mut closed, "http://a/y").unwrap();
        assert!(set_first_url(&mut closed, "http://c").unwrap_err().hint().is_some());
    }
}
