//! The way of the store to its database, from the settings: connections are made by crate `client`, and the password is read by reference.

use crate::config::{Acknowledge, Cluster, DatabaseTrust, Error, PublicUrl, References, Settings};
use client::{DatabaseUrl, TlsTrouble, Trust};
use repository::{BadSetting, References as _};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use store::{DatabaseDoor, DatabaseOptions, DatabaseStream};

/// How long a change waits for the database, with all that is tried again meanwhile, before it is refused. Clients of uploads wait a minute.
const PATIENCE: Duration = Duration::from_secs(10);

/// The options of the database. `None`: the settings have none. A file that they name is read here, so a wrong one is told at the start.
pub(crate) fn of(settings: &Settings) -> Result<Option<DatabaseOptions>, Error> {
    let Cluster { database, database_password, database_trust, node, acknowledge, stale_private_s, .. } =
        &settings.cluster;
    let Some(url) = &database.0 else { return Ok(None) };
    let references = settings.references.clone();
    let door = Door {
        url: url.clone(),
        trust: trust(database_trust, &references)?,
        password: database_password.0.clone(),
        references,
    };
    door.secret().map_err(|why| refused("database_password", &why))?;
    Ok(Some(DatabaseOptions {
        url: url.to_string(),
        name: url.name().to_owned(),
        user: url.user().to_owned(),
        door: Arc::new(door),
        node: node.0.clone(),
        node_url: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        everywhere: *acknowledge == Acknowledge::Everywhere,
        stale_private: Duration::from_secs(*stale_private_s),
        patience: PATIENCE,
        adopt: false,
    }))
}

/// The URL by which other nodes reach this one, which listens at `url`.
pub(crate) fn address(settings: &Settings, url: &str) -> String {
    if let PublicUrl(Some(address)) = &settings.cluster.address {
        return address.clone();
    }
    let any = ["://0.0.0.0:", "://[::]:"].into_iter().find(|any| url.contains(any));
    let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    any.map_or_else(|| url.to_owned(), |any| url.replacen(any, &format!("://{}:", host()), 1))
}

fn trust(setting: &DatabaseTrust, references: &References) -> Result<Option<Trust>, Error> {
    let path = match setting {
        DatabaseTrust::Plain => return Ok(None),
        DatabaseTrust::Machine => return Ok(Some(Trust::MACHINE)),
        DatabaseTrust::File(path) => path,
    };
    let unusable = |why: client::Error| Error::Contradiction {
        text: format!("`cluster.database_trust`: {why}"),
        hint: why.hint().unwrap_or_default().to_owned(),
    };
    let pem = references.pem(&path.to_string_lossy()).map_err(|why| refused("database_trust", &why))?;
    Trust::new(&pem.into()).map(Some).map_err(unusable)
}

fn refused(key: &str, why: &BadSetting) -> Error {
    Error::Contradiction { text: format!("`cluster.{key}`: {why}"), hint: why.hint().to_owned() }
}

/// Why there is no connection, with what an operator can do about it.
fn told(error: client::Error) -> io::Error {
    let more = match (error.tls_trouble(), &error) {
        (Some(TlsTrouble::UnknownIssuer), _) => {
            "; `cluster.database_trust` must name its authority or its certificate".to_owned()
        }
        (Some(TlsTrouble::OtherName), _) => {
            "; its certificate is for another host than `cluster.database` names".to_owned()
        }
        (_, client::Error::Unreachable { source, .. }) => format!(": {source}"),
        _ => error.hint().map(|hint| format!("; {hint}")).unwrap_or_default(),
    };
    let is_tls = matches!(error, client::Error::Tls { .. } | client::Error::DatabaseWithoutTls { .. });
    let kind = if is_tls { io::ErrorKind::PermissionDenied } else { io::ErrorKind::Other };
    io::Error::new(kind, format!("{error}{more}"))
}

/// Makes connections to the database.
#[derive(Debug)]
struct Door {
    url: DatabaseUrl,
    /// The certificates that its server may have; `None`: the connection is not encrypted.
    trust: Option<Trust>,
    /// Where the password is.
    password: Option<String>,
    references: References,
}

impl Door {
    fn secret(&self) -> Result<Option<client::Secret>, BadSetting> {
        self.password.as_deref().map(|reference| self.references.secret(reference)).transpose()
    }
}

impl DatabaseDoor for Door {
    fn dial(&self) -> Pin<Box<dyn Future<Output = io::Result<Box<dyn DatabaseStream>>> + Send + '_>> {
        Box::pin(async {
            let stream = self.url.connect(self.trust.as_ref()).await.map_err(told)?;
            Ok(Box::new(stream) as Box<dyn DatabaseStream>)
        })
    }

    fn password(&self) -> io::Result<Option<String>> {
        let secret = self.secret().map_err(io::Error::other)?;
        Ok(secret.map(|secret| secret.expose().to_owned()))
    }
}
