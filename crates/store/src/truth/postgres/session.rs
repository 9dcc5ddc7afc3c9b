//! One connection to the database, and the statements that are sent over it.
//!
//! A statement that fails ends the connection: what the other side has done is then found out over the next one.

use super::schema::{APPEND, CLUSTER, COUNTER, FORM, LIMITS, LOOK, ROWS, TABLES};
use crate::journal::record::Seq;
use std::error::Error as _;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::lock;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};

/// How long the database may take for an answer: a second more than its own limit for a statement ([`LIMITS`]).
pub(super) const ANSWER: Duration = Duration::from_secs(3);
/// The most rows of a page, and its most bytes.
const PAGE_ROWS: i64 = 1000;
const PAGE_BYTES: i64 = 1 << 20;
/// An append has a second more for each of these many bytes.
const BYTES_PER_SECOND: usize = 256 << 10;

/// The longest text of an error of the database that is told, in characters.
const MESSAGE_MAX: usize = 400;

/// A connection that is set up.
pub(super) struct Session {
    /// Counts the connections.
    pub(super) number: u64,
    /// The id of the cluster.
    pub(super) cluster: String,
    client: Client,
    append: Statement,
    rows: Statement,
    counter: Statement,
    /// The questions whose answers are awaited.
    open: AtomicUsize,
    /// Why it is not used any more.
    broken: Mutex<Option<String>>,
    /// Wakes the thread that connects again.
    wake: Arc<Notify>,
}

/// Changes on their way to the database.
#[derive(Debug)]
pub(super) struct Append {
    /// A random number, by which the database recognizes an append that was sent before.
    pub(super) id: [u8; 16],
    /// The number of the change after which it was decided.
    pub(super) after: Seq,
    /// The rows that follow.
    pub(super) bodies: Vec<String>,
}

/// What the database did with an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The rows are in the journal, by this append or by the same one before.
    Made,
    /// Others wrote first. Nothing was written.
    Moved,
    /// The sender's clock is off from that of the database by these milliseconds. Nothing was written.
    Clock(i64),
}

/// Why a connection cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Later it may be.
    Away(String),
    /// Somebody has to act.
    Other(String),
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Self::Away(told(&error))
    }
}

impl Session {
    /// Sets up the session, and the tables if there are none.
    pub(super) async fn set_up(client: Client, number: u64, wake: Arc<Notify>) -> Result<Self, Unusable> {
        let look = client.query_one(LOOK, &[]).await?;
        let encoding: String = look.get("encoding");
        if encoding != "UTF8" {
            return Err(Unusable::Other(format!(
                "its encoding is `{encoding}`, and it must be `UTF8`: CREATE DATABASE with ENCODING 'UTF8' TEMPLATE template0"
            )));
        }
        if look.get("is_standby") || look.get("is_read_only") {
            return Err(Unusable::Away("it is a standby, which writes nothing".into()));
        }
        client.batch_execute(LIMITS).await?;
        if !look.get::<_, bool>("is_set_up") {
            client.batch_execute(TABLES).await?;
        }
        let cluster = client.query_one(CLUSTER, &[]).await?;
        let form: i32 = cluster.get("form");
        if form > FORM {
            return Err(Unusable::Other(format!(
                "a later version of daylight made its tables: they have the form `{form}`, and this one knows up to `{FORM}`"
            )));
        }
        Ok(Self {
            number,
            cluster: cluster.get("id"),
            append: client.prepare(APPEND).await?,
            rows: client.prepare(ROWS).await?,
            counter: client.prepare(COUNTER).await?,
            client,
            open: AtomicUsize::new(0),
            broken: Mutex::default(),
            wake,
        })
    }

    /// Why it is not used any more, if that is so.
    pub(super) fn broken(&self) -> Option<String> {
        lock(&self.broken).clone()
    }

    /// It is not used any more.
    pub(super) fn give_up(&self, cause: &str) {
        lock(&self.broken).get_or_insert_with(|| cause.to_owned());
        self.wake.notify_one();
    }

    /// Whether an answer is awaited.
    pub(super) fn is_busy(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    async fn ask<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
        self.ask_within(ANSWER, work).await
    }

    async fn ask_within<T>(&self, limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
        self.open.fetch_add(1, Ordering::AcqRel);
        let answered = timeout(limit, work).await;
        self.open.fetch_sub(1, Ordering::AcqRel);
        let cause = match answered {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => told(&error),
            Err(_) => format!("it has not answered for {} s", limit.as_secs()),
        };
        self.give_up(&cause);
        // The connection may have ended before, for a reason that says more.
        Err(self.broken().unwrap_or(cause))
    }

    /// The number of the last row.
    pub(super) async fn counter(&self) -> Result<Seq, String> {
        let row = self.ask(self.client.query_one(&self.counter, &[])).await?;
        Ok(Seq(row.get::<_, i64>(0).cast_unsigned()))
    }

    /// Rows after `after` as they are stored, a page of them.
    pub(super) async fn rows(&self, after: Seq) -> Result<Vec<(Seq, String)>, String> {
        self.page(after, PAGE_ROWS).await
    }

    /// The row of a number.
    pub(super) async fn row(&self, seq: Seq) -> Result<Option<String>, String> {
        let rows = self.page(Seq(seq.0 - 1), 1).await?;
        Ok(rows.into_iter().find(|(found, _)| *found == seq).map(|(_, body)| body))
    }

    async fn page(&self, after: Seq, rows: i64) -> Result<Vec<(Seq, String)>, String> {
        let after = after.0.cast_signed();
        let found = self.ask(self.client.query(&self.rows, &[&after, &rows, &PAGE_BYTES])).await?;
        Ok(found.iter().map(|row| (Seq(row.get::<_, i64>(0).cast_unsigned()), row.get(1))).collect())
    }

    /// Sends an append. `clock_ms`: the time of this node, if it is to be compared. Returns after ReadyForQuery: before that message
    /// PostgreSQL has answered the statement, but not committed it.
    pub(super) async fn append(&self, append: &Append, node: &str, clock_ms: Option<i64>) -> Result<Answer, String> {
        let (id, after) = (&append.id[..], append.after.0.cast_signed());
        let bytes: usize = append.bodies.iter().map(String::len).sum();
        let more_s = (bytes / BYTES_PER_SECOND) as u64;
        let limit = ANSWER + Duration::from_secs(more_s);
        if more_s > 0 {
            self.limit_statements(more_s).await?;
        }
        let values: [&(dyn ToSql + Sync); 5] = [&after, &id, &node, &clock_ms, &append.bodies];
        let row = self.ask_within(limit, self.client.query_one(&self.append, &values)).await?;
        if more_s > 0 {
            // If this fails, the append is sent again, and was made.
            self.limit_statements(0).await?;
        }
        match row.get::<_, &str>(0) {
            "made" | "taken" => Ok(Answer::Made),
            "clock" => Ok(Answer::Clock(row.get(1))),
            _ => Ok(Answer::Moved),
        }
    }

    /// Lets the database work on a statement for that much longer than usual ([`LIMITS`]).
    async fn limit_statements(&self, more_s: u64) -> Result<(), String> {
        let longer = format!("SET statement_timeout = {}", 2000 + 1000 * more_s);
        self.ask(self.client.batch_execute(&longer)).await
    }

    /// A note.
    pub(super) async fn note(&self, name: &str) -> Result<Option<String>, String> {
        let sql = "SELECT body FROM daylight.note WHERE name = $1";
        Ok(self.ask(self.client.query_opt(sql, &[&name])).await?.map(|row| row.get(0)))
    }

    /// Replaces a note, if it still is what was read. Returns whether it was.
    pub(super) async fn replace_note(&self, name: &str, read: Option<&str>, body: &str) -> Result<bool, String> {
        let changed = match read {
            None => {
                let sql = "INSERT INTO daylight.note VALUES ($1, $2) ON CONFLICT DO NOTHING";
                self.ask(self.client.execute(sql, &[&name, &body])).await?
            }
            Some(read) => {
                let sql = "UPDATE daylight.note SET body = $2 WHERE name = $1 AND body = $3";
                self.ask(self.client.execute(sql, &[&name, &body, &read])).await?
            }
        };
        Ok(changed > 0)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("number", &self.number).finish_non_exhaustive()
    }
}

/// An error for people: the database's own words, or those of the connection.
pub(super) fn told(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("it says: {}", error.message().chars().take(MESSAGE_MAX).collect::<String>());
    }
    match error.source() {
        Some(source) => source.to_string(),
        None if error.is_closed() => "the connection was closed".to_owned(),
        None => error.to_string(),
    }
}
