//! Why a database refuses a connection, where only people can change that.

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// What a database refuses a connection for. A later attempt fails in the same way, unless somebody changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseRefusal {
    /// The user or the password.
    Login,
    /// The name of the database.
    Name,
    /// The user may not make or use the tables.
    Rights,
    /// The connection is encrypted and should not be, or the other way round, or the certificate is not trusted.
    Tls,
}

impl DatabaseRefusal {
    /// The refusal that an error tells (PostgreSQL 18, Appendix A); `None`: it may end by itself.
    pub(super) fn of(error: &Error) -> Option<Self> {
        let Some(state) = error.code() else {
            // The client ends the handshake itself where it has no password, or where the server does not prove that it knows it.
            let text = error.to_string();
            let is_login = ["invalid configuration", "authentication error"].iter().any(|of| text.starts_with(of));
            return is_login.then_some(Self::Login);
        };
        if *state == SqlState::INVALID_PASSWORD || *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
            Some(Self::Login)
        } else if *state == SqlState::INVALID_CATALOG_NAME {
            Some(Self::Name)
        } else if *state == SqlState::INSUFFICIENT_PRIVILEGE {
            Some(Self::Rights)
        } else {
            None
        }
    }

    /// What an operator can do about it.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Login => {
                "see whether the user in `cluster.database` and `cluster.database_password` are right, and whether `pg_hba.conf` of the \
                 database lets this machine in"
            }
            Self::Name => "see whether `cluster.database` names the right database: `CREATE DATABASE` makes a new one",
            Self::Rights => {
                "make the user of `cluster.database` the owner of the database, or of the schema `daylight` in it"
            }
            Self::Tls => {
                "see whether `cluster.database_trust` names the authority of the database's certificate, and whether the database speaks TLS"
            }
        }
    }
}
