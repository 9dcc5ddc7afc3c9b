//! The database of a folder whose server does not run, at the command of a person: the history that it has, and another one in its place.

use super::dial::dial;
use super::history::OTHER_CLUSTER;
use super::options::DatabaseOptions;
use super::schema::{CLUSTER, COUNTER, FORM, LOOK, ROWS};
use super::session::{Unusable, may_be_used, random, told};
use crate::error::{Error, Result};
use crate::journal::record::Seq;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::Client;

/// How long one statement may take: far longer than any of these does.
const STATEMENT: Duration = Duration::from_secs(300);
/// The most rows that are sent or read at a time, and their most bytes.
pub(crate) const PAGE_ROWS: usize = 1000;
pub(crate) const PAGE_BYTES: usize = 1 << 20;

/// Nobody reads or writes these tables until the end of the transaction. `lock_timeout`: a backup of the database may be reading them.
const LOCK: &str = "
    BEGIN; SET LOCAL lock_timeout = 5000; SET LOCAL idle_in_transaction_session_timeout = '5min';
    LOCK TABLE daylight.counter, daylight.journal, daylight.node, daylight.lease IN ACCESS EXCLUSIVE MODE";

/// Who works on the database: nodes that beat, and connections. Each node has one as long as it relies on the history that it compared over it.
const USERS: &str = "
    SELECT 'the node `' || name || '`' FROM daylight.node
    WHERE folder <> $1 AND state <> 'gone' AND at > clock_timestamp() - interval '3 seconds'
    UNION ALL
    SELECT 'a connection from ' || coalesce(host(client_addr), 'this machine') || ' (process ' || pid || ')' FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'daylight' AND pid <> pg_backend_pid()";

/// A connection of a person's command.
pub(crate) struct Direct {
    runtime: Runtime,
    client: Client,
    options: DatabaseOptions,
}

impl Direct {
    /// Connects to the database of the cluster `id`. Changes nothing there.
    pub(crate) fn connect(options: &DatabaseOptions, id: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::thread)?;
        let connected = runtime.block_on(async { timeout(options.patience, connect(options, id)).await });
        let connected = connected.unwrap_or_else(|_| Err(Unusable::Away("it does not answer".to_owned())));
        let client = connected.map_err(|why| why.told(&options.url))?;
        Ok(Self { runtime, client, options: options.clone() })
    }

    fn ask<T>(&self, asked: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
        let away = |cause: String| Error::DatabaseAway { url: self.options.url.clone(), cause };
        match self.runtime.block_on(async { timeout(STATEMENT, asked).await }) {
            Ok(answer) => answer.map_err(|error| away(told(&error))),
            Err(_) => Err(away(format!("it has not answered for {} s", STATEMENT.as_secs()))),
        }
    }

    /// The number of the last row.
    pub(crate) fn last(&self) -> Result<Seq> {
        Ok(Seq(self.ask(self.client.query_one(COUNTER, &[]))?.get::<_, i64>(0).cast_unsigned()))
    }

    /// Rows after `after` as they are stored, at most so many, but at least one.
    pub(crate) fn rows(&self, after: Seq, limit: usize) -> Result<Vec<(Seq, String)>> {
        let (after, limit, bytes) = (after.0.cast_signed(), limit as i64, PAGE_BYTES as i64);
        let rows = self.ask(self.client.query(ROWS, &[&after, &limit, &bytes]))?;
        Ok(rows.iter().map(|row| (Seq(row.get::<_, i64>(0).cast_unsigned()), row.get(1))).collect())
    }

    /// The nodes that made the rows after `after`, with the number of these rows.
    pub(crate) fn nodes(&self, after: Seq) -> Result<Vec<(String, u64)>> {
        let sql = "SELECT node, count(*) FROM daylight.journal WHERE seq > $1 GROUP BY node ORDER BY min(seq)";
        let rows = self.ask(self.client.query(sql, &[&after.0.cast_signed()]))?;
        Ok(rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1).cast_unsigned())).collect())
    }

    /// Begins a transaction in which nobody else reads or writes. An error if somebody else than the stopped server of `folder` works on the
    /// database.
    pub(crate) fn hold(&self, folder: &str) -> Result<()> {
        self.ask(self.client.batch_execute(LOCK))?;
        match self.ask(self.client.query(USERS, &[&folder]))?.first() {
            Some(user) => Err(Error::DatabaseInUse(user.get(0))),
            None => Ok(()),
        }
    }

    /// Removes the rows after `after`, and all that is known of nodes, inside the transaction.
    pub(crate) fn remove(&self, after: Seq) -> Result<()> {
        let sql = format!(
            "DELETE FROM daylight.journal WHERE seq > {0}; UPDATE daylight.counter SET seq = {0}; \
             DELETE FROM daylight.node; DELETE FROM daylight.lease",
            after.0
        );
        self.ask(self.client.batch_execute(&sql))
    }

    /// Adds rows that follow the last one, inside the transaction.
    pub(crate) fn add(&self, rows: &[(Seq, String)]) -> Result<()> {
        let (seqs, bodies): (Vec<i64>, Vec<&str>) =
            rows.iter().map(|(seq, body)| (seq.0.cast_signed(), body.as_str())).unzip();
        let (node, id) = (&self.options.node, random()?);
        let sql = "INSERT INTO daylight.journal SELECT b.seq, b.body, $3, $4 FROM unnest($1::bigint[], $2::text[]) AS b (seq, body)";
        self.ask(self.client.execute(sql, &[&seqs, &bodies, node, &&id[..]]))?;
        let sql = "UPDATE daylight.counter SET seq = (SELECT max(seq) FROM daylight.journal)";
        self.ask(self.client.execute(sql, &[])).map(drop)
    }

    /// Ends the transaction. Without it nothing is changed.
    pub(crate) fn commit(&self) -> Result<()> {
        self.ask(self.client.batch_execute("COMMIT"))
    }
}

async fn connect(options: &DatabaseOptions, id: &str) -> Result<Client, Unusable> {
    let (client, connection) = dial(options).await?;
    // It ends with the runtime.
    tokio::spawn(connection);
    if !may_be_used(&client.query_one(LOOK, &[]).await?)? {
        let why = "it has no tables of this version of daylight, which a server makes at its start";
        return Err(Unusable::Other(why.to_owned()));
    }
    let cluster = client.query_one(CLUSTER, &[]).await?;
    match (cluster.get::<_, String>("id"), cluster.get::<_, i32>("form")) {
        (_, form) if form > FORM => Err(Unusable::later_form(form)),
        (found, _) if found != id => Err(Unusable::Other(OTHER_CLUSTER.to_owned())),
        _ => Ok(client),
    }
}
