//! One connection to the database, and the statements that are sent over it.
//!
//! A statement that fails ends the connection: what the other side has done is then found out over the next one. Only a database that
//! says that it cannot write, for example because its disk is full, keeps the connection.

use super::append::{Answer, Append};
use super::beat::{Beat, Beaten, Sender};
use super::nodes::Standing;
use super::refusal::DatabaseRefusal;
use super::schema::{
    APPEND, BARRIER, BEAT, CLUSTER, COUNTER, FORGET, FORM, GIVE_BACK, LEAVE, LIMITS, LOOK, ROWS, SEVERAL, STANDS,
    TABLES, TRIAL,
};
use super::state::DatabaseState;
use crate::journal::record::Seq;
use std::error::Error as _;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use telemetry::lock;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

/// How long the database may take for an answer: a second more than its own limit for a statement ([`LIMITS`]).
pub(super) const ANSWER: Duration = Duration::from_secs(3);
/// The most rows of a page, and its most bytes.
const PAGE_ROWS: i64 = 1000;
const PAGE_BYTES: i64 = 1 << 20;
/// How often a page may become smaller, each time to a quarter, because the connection is slow.
pub(super) const SMALLER_MAX: u32 = 3;
/// How much longer the smallest page may take than another answer, in seconds.
const SMALLEST_MORE_S: u64 = 27;
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
    has_others: AtomicBool,
    client: Client,
    append: Statement,
    rows: Statement,
    counter: Statement,
    beat: Statement,
    /// How many seconds longer than usual a statement may take that is sent before others.
    longer_s: AtomicU64,
    /// Why it is not used any more.
    broken: Mutex<Option<String>>,
    /// Wakes the thread that connects again.
    wake: Arc<Notify>,
    state: Arc<DatabaseState>,
}

/// Rows as they are stored.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) rows: Vec<(Seq, String)>,
    /// The last of them was not the last one of the database, at the moment of which they are.
    pub(super) more: bool,
}

/// Why a connection cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Later it may be.
    Away(String),
    /// Later it may be, if somebody changes something.
    Refused(DatabaseRefusal, String),
    /// Somebody has to act.
    Other(String),
}

impl Unusable {
    pub(super) fn silent() -> Self {
        Self::Away("it does not answer".to_owned())
    }

    pub(super) fn later_form(form: i32) -> Self {
        Self::Other(format!(
            "a later version of daylight made its tables: they have the form `{form}`, and this one knows up to `{FORM}`"
        ))
    }

    /// The error of the store.
    pub(super) fn told(self, url: &str) -> crate::Error {
        let url = url.to_owned();
        match self {
            Self::Away(cause) => crate::Error::DatabaseAway { url, cause },
            Self::Refused(of, cause) => crate::Error::DatabaseRefuses { url, cause, of },
            Self::Other(why) => crate::Error::DatabaseOther { url, why },
        }
    }
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        match DatabaseRefusal::of(&error) {
            Some(of) => Self::Refused(of, told(&error)),
            None => Self::Away(told(&error)),
        }
    }
}

/// Whether the database that answers [`LOOK`] so has its tables. Fails if it cannot be used.
pub(super) fn may_be_used(look: &Row) -> Result<bool, Unusable> {
    let encoding: String = look.get("encoding");
    if encoding != "UTF8" {
        return Err(Unusable::Other(format!(
            "its encoding is `{encoding}`, and it must be `UTF8`: CREATE DATABASE with ENCODING 'UTF8' TEMPLATE template0"
        )));
    }
    if look.get("is_standby") || look.get("is_read_only") {
        return Err(Unusable::Away("it is a standby, which writes nothing".into()));
    }
    Ok(look.get("is_set_up"))
}

impl Session {
    /// Sets up the session, and the tables if there are none.
    pub(super) async fn set_up(
        client: Client,
        number: u64,
        wake: Arc<Notify>,
        state: Arc<DatabaseState>,
    ) -> Result<Self, Unusable> {
        let look = timeout(ANSWER, client.query_one(LOOK, &[])).await.map_err(|_| Unusable::silent())??;
        let is_set_up = may_be_used(&look)?;
        client.batch_execute(LIMITS).await?;
        if !is_set_up {
            client.batch_execute(TABLES).await?;
        }
        let cluster = client.query_one(CLUSTER, &[]).await?;
        let form: i32 = cluster.get("form");
        if form > FORM {
            return Err(Unusable::later_form(form));
        }
        Ok(Self {
            number,
            cluster: cluster.get("id"),
            has_others: AtomicBool::new(cluster.get("has_others")),
            append: client.prepare(APPEND).await?,
            rows: client.prepare(ROWS).await?,
            counter: client.prepare(COUNTER).await?,
            beat: client.prepare(BEAT).await?,
            client,
            longer_s: AtomicU64::new(0),
            broken: Mutex::default(),
            wake,
            state,
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

    /// Asks after everything that was sent before.
    async fn ask<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
        let longer = Duration::from_secs(self.longer_s.load(Ordering::Acquire));
        self.ask_within(ANSWER + longer, work).await
    }

    async fn ask_within<T>(&self, limit: Duration, work: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
        let cause = match timeout(limit, work).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) if cannot_write(&error) => {
                let cause = told(&error);
                self.state.refuses(&cause);
                return Err(cause);
            }
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

    /// Rows after `after` as they are stored, a page of them. `smaller`: how often it became smaller, up to [`SMALLER_MAX`].
    pub(super) async fn rows(&self, after: Seq, smaller: u32) -> Result<Page, String> {
        // One row may be larger than the smallest page.
        let more_s = if smaller >= SMALLER_MAX { SMALLEST_MORE_S } else { 0 };
        if more_s > 0 {
            self.limit_statements(more_s).await?;
        }
        let page =
            self.page(after, PAGE_ROWS, PAGE_BYTES >> (2 * smaller), ANSWER + Duration::from_secs(more_s)).await?;
        if more_s > 0 {
            self.limit_statements(0).await?;
        }
        Ok(page)
    }

    /// The row of a number.
    pub(super) async fn row(&self, seq: Seq) -> Result<Option<String>, String> {
        let page = self.page(Seq(seq.0 - 1), 1, PAGE_BYTES, ANSWER).await?;
        Ok(page.rows.into_iter().find(|(found, _)| *found == seq).map(|(_, body)| body))
    }

    async fn page(&self, after: Seq, rows: i64, bytes: i64, limit: Duration) -> Result<Page, String> {
        let after = after.0.cast_signed();
        let found = self.ask_within(limit, self.client.query(&self.rows, &[&after, &rows, &bytes])).await?;
        let more = found.last().is_some_and(|last| last.get::<_, i64>(0) != last.get::<_, i64>(2));
        let rows = found.iter().map(|row| (Seq(row.get::<_, i64>(0).cast_unsigned()), row.get(1))).collect();
        Ok(Page { rows, more })
    }

    /// Sends an append. `clock_ms`: the time of this node, if it is to be compared. Returns after ReadyForQuery: before that message
    /// PostgreSQL has answered the statement, but not committed it.
    pub(super) async fn append(&self, append: &Append, from: &Sender, clock_ms: Option<i64>) -> Result<Answer, String> {
        let (id, after) = (&append.id[..], append.after.0.cast_signed());
        let bytes: usize = append.bodies.iter().map(String::len).sum();
        let more_s = (bytes / BYTES_PER_SECOND) as u64;
        // While many rows arrive, the clock goes on. Beats have compared it.
        let clock_ms = clock_ms.filter(|_| more_s == 0 || self.state.clock_doubt().is_some());
        let limit = ANSWER + Duration::from_secs(more_s);
        if more_s > 0 {
            self.longer_s.store(more_s, Ordering::Release);
            self.limit_statements(more_s).await?;
        }
        let Append { puts_back, lost, bodies, .. } = append;
        let values: [&(dyn ToSql + Sync); 8] =
            [&after, &id, &from.node, &from.instance, &clock_ms, puts_back, lost, bodies];
        let row = self.ask_within(limit, self.client.query_one(&self.append, &values)).await;
        if more_s > 0 && self.broken().is_none() {
            // If this fails, the append is sent again, and was made.
            self.limit_statements(0).await?;
            self.longer_s.store(0, Ordering::Release);
        }
        let row = row?;
        match row.get::<_, &str>(0) {
            "made" | "taken" => {
                self.state.takes();
                Ok(Answer::Made { alone: row.get::<_, Option<i64>>(2) == Some(0) })
            }
            "clock" => {
                self.state.is_off(row.get(1));
                Ok(Answer::Clock(row.get(1)))
            }
            "wait" => Ok(Answer::Wait(Seq(row.get::<_, i64>(1).cast_unsigned()))),
            _ => Ok(Answer::Moved),
        }
    }

    /// Sends a beat.
    pub(super) async fn beat(&self, beat: &Beat) -> Result<Beaten, String> {
        let (seen, form) = (beat.seen.0.cast_signed(), beat.form.cast_signed());
        let values: [&(dyn ToSql + Sync); 13] = [
            &beat.by.node,
            &beat.by.instance,
            &beat.number,
            &beat.folder,
            &beat.stands_at,
            &seen,
            &beat.fresh,
            &beat.state,
            &beat.url,
            &beat.version,
            &form,
            &beat.tells,
            &beat.wants,
        ];
        let sent_ms = self.state.clock_ms();
        let row = self.ask(self.client.query_one(&self.beat, &values)).await?;
        self.state.told_time(row.get(6), sent_ms);
        Beaten::read(&row).inspect_err(|cause| self.give_up(cause))
    }

    /// Whether there was ever another node, as the database knows.
    pub(super) fn has_others(&self) -> bool {
        self.has_others.load(Ordering::Acquire)
    }

    /// Lets the database know it. Tried once over each connection, as a database that cannot write answers beats.
    pub(super) async fn note_others(&self) {
        self.has_others.store(true, Ordering::Release);
        let _ = self.ask(self.client.execute(SEVERAL, &[])).await;
    }

    /// Returns after all appends that were under way.
    pub(super) async fn barrier(&self) -> Result<(), String> {
        self.ask(self.client.query_one(BARRIER, &[])).await.map(drop)
    }

    /// `instance` does not want these leases any more.
    pub(super) async fn give_back(&self, leases: &[String], instance: &str) -> Result<(), String> {
        self.ask(self.client.execute(GIVE_BACK, &[&leases, &instance])).await.map(drop)
    }

    /// These nodes stand still.
    pub(super) async fn stand(&self, nodes: &[Standing]) -> Result<(), String> {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let beats: Vec<i64> = nodes.iter().map(|node| node.beat).collect();
        let gone: Vec<bool> = nodes.iter().map(|node| node.is_gone).collect();
        self.ask(self.client.execute(STANDS, &[&names, &beats, &gone])).await?;
        self.ask(self.client.execute(FORGET, &[])).await.map(drop)
    }

    /// This node stops.
    pub(super) async fn leave(&self, node: &Sender) -> Result<(), String> {
        self.ask(self.client.execute(LEAVE, &[&node.node, &node.instance])).await?;
        self.ask(self.client.execute(FORGET, &[])).await.map(drop)
    }

    /// Tries whether the database can write rows.
    pub(super) async fn try_to_write(&self) -> Result<(), String> {
        self.ask(self.client.batch_execute(TRIAL)).await?;
        self.state.takes();
        Ok(())
    }

    /// Lets the database work on a statement for that much longer than usual ([`LIMITS`]).
    async fn limit_statements(&self, more_s: u64) -> Result<(), String> {
        let longer = format!("SET statement_timeout = {}", 2000 + 1000 * more_s);
        self.ask(self.client.batch_execute(&longer)).await
    }

    /// A note.
    pub(super) async fn note(&self, name: &str) -> Result<Option<String>, String> {
        let sql = "SELECT (SELECT body FROM daylight.note WHERE name = $1), (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let sent_ms = self.state.clock_ms();
        let row = self.ask(self.client.query_one(sql, &[&name])).await?;
        self.state.told_time(row.get(1), sent_ms);
        Ok(row.get(0))
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

/// A random identity.
pub(super) fn random() -> crate::error::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| crate::error::Error::thread(std::io::Error::other(error)))?;
    Ok(bytes)
}

/// Whether the database is there and cannot do its work (PostgreSQL 15, Appendix A): it lacks space, memory or a limit was reached, the
/// system failed it, or its files are damaged. Another connection changes nothing about that.
fn cannot_write(error: &Error) -> bool {
    let class = error.as_db_error().filter(|error| error.severity() == "ERROR").map(|error| &error.code().code()[..2]);
    class.is_some_and(|class| ["53", "54", "58", "XX"].contains(&class))
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
