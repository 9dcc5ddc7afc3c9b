//! A connection to the database, before anything was asked over it, and one question over it at the command of a person.

use super::options::{DatabaseOptions, DatabaseStream};
use super::refusal::DatabaseRefusal;
use super::schema::{COUNTER, LOOK};
use super::session::{Unusable, may_be_used};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use futures_util::future::{Either, select};
use std::io::{self, ErrorKind};
use std::pin::pin;
use tokio::runtime::Builder;
use tokio::time::timeout;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, NoTls};

/// Connects. The messages of the connection have to be moved before anything is answered.
pub(super) async fn dial(
    options: &DatabaseOptions,
) -> Result<(Client, Connection<Box<dyn DatabaseStream>, NoTlsStream>), Unusable> {
    let mut config = Config::new();
    config.user(&options.user).dbname(&options.name).application_name("daylight");
    let unread = |error: io::Error| Unusable::Refused(DatabaseRefusal::Login, error.to_string());
    if let Some(password) = options.door.password().map_err(unread)? {
        config.password(password);
    }
    let stream = options.door.dial().await.map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => Unusable::Refused(DatabaseRefusal::Tls, error.to_string()),
        _ => Unusable::Away(error.to_string()),
    })?;
    Ok(config.connect_raw(stream, NoTls).await?)
}

/// Whether the database can be used: an error with the cause, or the number of its last change. `None`: it has no tables yet. Changes
/// nothing there. Blocks.
pub fn try_database(options: &DatabaseOptions) -> Result<Option<Seq>> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::thread)?;
    let looked = runtime.block_on(async { timeout(options.patience, look(options)).await });
    let silent = || Err(Unusable::Away("it does not answer".to_owned()));
    looked.unwrap_or_else(|_| silent()).map_err(|why| why.told(&options.url))
}

async fn look(options: &DatabaseOptions) -> Result<Option<Seq>, Unusable> {
    let (client, connection) = dial(options).await?;
    let asked = async {
        let row = client.query_one(LOOK, &[]).await?;
        if !may_be_used(&row)? {
            return Ok(None);
        }
        Ok(Some(Seq(client.query_one(COUNTER, &[]).await?.get::<_, i64>(0).cast_unsigned())))
    };
    match select(pin!(asked), pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((ended, _)) => {
            Err(ended.err().map_or_else(|| Unusable::Away("the connection was closed".to_owned()), Unusable::from))
        }
    }
}
