//! A connection to the database, before anything was asked over it, and one question over it at the command of a person.

use super::objects_place::{PLACE, is_shared};
use super::options::{DatabaseOptions, DatabaseStream};
use super::refusal::DatabaseRefusal;
use super::schema::{COUNTER, LIVES, LOOK, NOTE};
use super::session::{ANSWER, Unusable, may_be_used};
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
    // A server that was stopped accepts connections, and says nothing.
    let connected = timeout(ANSWER, config.connect_raw(stream, NoTls)).await;
    Ok(connected.map_err(|_| Unusable::silent())??)
}

/// A database that can be used.
#[derive(Debug)]
pub struct TriedDatabase {
    /// The number of its last change.
    pub last: Seq,
    /// The URL of a living node with the name of this one: this one itself, or another one, beside which no start succeeds.
    pub same_name: Option<String>,
}

/// Whether the database can be used by a node that keeps bytes at `objects`, or in its data folder: an error with the cause, or what it has.
/// `None`: it has no tables yet. Changes nothing there. Blocks.
pub fn try_database(options: &DatabaseOptions, objects: Option<&str>) -> Result<Option<TriedDatabase>> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::thread)?;
    let looked = runtime.block_on(async { timeout(options.patience, look(options)).await });
    let found = looked.unwrap_or_else(|_| Err(Unusable::silent())).map_err(|why| why.told(&options.url))?;
    let Some((tried, noted)) = found else { return Ok(None) };
    is_shared(noted.as_deref(), objects).map(|()| Some(tried))
}

/// What it has, and the place of the bytes; `None`: there are no tables.
async fn look(options: &DatabaseOptions) -> Result<Option<(TriedDatabase, Option<String>)>, Unusable> {
    let (client, connection) = dial(options).await?;
    let asked = async {
        let row = client.query_one(LOOK, &[]).await?;
        if !may_be_used(&row)? {
            return Ok(None);
        }
        let last = Seq(client.query_one(COUNTER, &[]).await?.get::<_, i64>(0).cast_unsigned());
        let noted = client.query_opt(NOTE, &[&PLACE]).await?;
        let same_name = client.query_opt(LIVES, &[&options.node]).await?.map(|row| row.get(0));
        Ok(Some((TriedDatabase { last, same_name }, noted.map(|row| row.get(0)))))
    };
    match select(pin!(asked), pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((ended, _)) => {
            Err(ended.err().map_or_else(|| Unusable::Away("the connection was closed".to_owned()), Unusable::from))
        }
    }
}
