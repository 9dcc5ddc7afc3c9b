//! Changes of the indexes of a gem repository, by operators.

use crate::author::Author;
use crate::bad_setting::BadSetting;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::gem::hosted::Hosted;
use crate::gem::{compact, reformat};
use crate::record::{IndexBase, RepositoryRecord};
use crate::repository::Repository;
use crate::services::{Services, TRIES};
use format::gem::info::FormatVersion;
use std::sync::Arc;
use telemetry::{Event, Millis, Op};

/// Changes the form of `/info` to `format`. When this returns, every later answer has that form.
pub async fn reform(
    services: &Services,
    name: &str,
    format: FormatVersion,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Arc<Repository>> {
    let _turn = event.waited(Op::TurnWait, services.changing.lock()).await;
    for _ in 0..TRIES {
        let (repository, settings) = services.find(name, event).await?;
        check_lines(&repository)?;
        let hosted = Hosted::of(services, &repository, &settings);
        if repository.info_format() == format || reformat::reform(hosted, format, by, event).await? {
            return Ok(services.find(name, event).await?.0);
        }
    }
    Err(Error::Contended(name.to_owned()))
}

/// Compacts `/versions` to one line for each gem, as of `created_at`. When this returns, clients get the compacted
/// file.
pub async fn rebuild_versions(
    services: &Services,
    name: &str,
    created_at: Millis,
    by: Author<'_>,
    event: &mut Event,
) -> Result<Arc<Repository>> {
    let _turn = event.waited(Op::TurnWait, services.changing.lock()).await;
    for _ in 0..TRIES {
        let (repository, settings) = services.find(name, event).await?;
        if repository.follows() {
            let text = format!("`{name}` follows the index of its upstream, which must never restart for its clients");
            return Err(BadSetting::new(text, "this is for hosted repositories of gems").into());
        }
        check_lines(&repository)?;
        let hosted = Hosted::of(services, &repository, &settings);
        let base = IndexBase { through: services.store.last(), created: created_at };
        let record = RepositoryRecord { index_base: Some(base), ..repository.record.clone() };
        let commit = async |event: &mut Event| services.change(&repository, Vec::new(), record, by, event).await;
        if compact::compact(hosted, base, commit, event).await? {
            return Ok(services.find(name, event).await?.0);
        }
    }
    Err(Error::Contended(name.to_owned()))
}

/// Refuses a repository whose index has no lines.
fn check_lines(repository: &Repository) -> Result<(), BadSetting> {
    if repository.format == Format::Gem {
        return Ok(());
    }
    let (name, format) = (&repository.record.name, repository.format.as_str());
    let text = format!("`{name}` has format {format}, which has no index of lines");
    Err(BadSetting::new(text, "this is for repositories of gems"))
}
