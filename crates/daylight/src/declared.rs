//! Puts into force what the configuration file declares of repositories: at each start, and when it is read again.

use crate::config::DeclaredRepository;
use crate::init::BY;
use format::gem::info::FormatVersion;
use repository::{BadSetting, Error, Repositories};
use telemetry::Event;

/// A repository that the file declares and that cannot be so.
#[derive(Debug, thiserror::Error)]
#[error("{place}: `{name}` cannot be put into force")]
pub(crate) struct NotSo {
    place: String,
    name: String,
    source: Error,
}

/// Makes what is declared and not there, and changes what is there to what is declared. What is not declared stays.
pub(crate) async fn put(
    declared: &[DeclaredRepository],
    repositories: &Repositories,
    info_format: FormatVersion,
    event: &mut Event,
) -> Result<(), NotSo> {
    for one in declared {
        let (place, name) = (one.place.clone(), one.wanted.name.clone());
        put_one(one, repositories, info_format, event).await.map_err(|source| NotSo { place, name, source })?;
    }
    Ok(())
}

async fn put_one(
    declared: &DeclaredRepository,
    repositories: &Repositories,
    info_format: FormatVersion,
    event: &mut Event,
) -> Result<(), Error> {
    let wanted = &declared.wanted;
    let there = match repositories.find(&wanted.name, event).await {
        Ok((there, _)) => there,
        Err(Error::NoSuchRepository(_)) => {
            return repositories.add(wanted.record(info_format)?, BY, event).await.map(drop);
        }
        Err(error) => return Err(error),
    };
    let (kind, format) = (there.record.kind, &there.record.format);
    if (kind, format) != (wanted.kind()?, &wanted.format) {
        let text = format!("it is there already, as a {} repository of format {format}", kind.as_str());
        return Err(BadSetting::new(text, "take another name, or remove it with all its content first").into());
    }
    let settings = wanted.settings()?;
    repositories.set(&wanted.name, |record| settings.apply(record), BY, event).await?;
    if let Some(info_format) = settings.info_format()? {
        repositories.reform(&wanted.name, info_format, BY, event).await?;
    }
    Ok(())
}
