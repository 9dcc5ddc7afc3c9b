//! The answers to challenges by request of all nodes that share a database: the request of an authority may reach any of them.
//!
//! They are a note in the database until the names are checked. They are no secrets: the authority gets them without TLS.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;
use telemetry::{Event, Millis, Tick, lock};
use tokio::sync::Mutex as Turn;
use tokio::time::sleep;

/// The name of the note.
const NOTE: &str = "acme";
/// How often a node reads it at most, however often clients ask.
const READ_EVERY: Duration = Duration::from_secs(1);
/// Answers of a node that was killed go after this time.
const LASTS: Duration = Duration::from_secs(3600);
/// The most answers, far more than orders that are under way have.
const ANSWERS_MAX: usize = 1_000;

/// The answers, by the tokens of the challenges.
type Given = BTreeMap<String, GivenAnswer>;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct GivenAnswer {
    text: String,
    at: Millis,
}

/// The answers of all nodes.
pub(super) struct SharedAnswers {
    store: Arc<Store>,
    /// The tokens of this node.
    own: Mutex<Vec<String>>,
    /// What was read last, and when.
    read: Turn<(Option<Tick>, Given)>,
}

impl SharedAnswers {
    /// `None`: this node has no others.
    pub(super) fn of(store: &Arc<Store>) -> Option<Self> {
        store.database()?;
        Some(Self { store: store.clone(), own: Mutex::default(), read: Turn::default() })
    }

    /// Lets all nodes give this answer, and returns when each of them does. If the database is away, only this one gives it.
    pub(super) async fn add(&self, token: &str, text: &str, now: Millis) {
        lock(&self.own).push(token.to_owned());
        let (token, given) = (token.to_owned(), GivenAnswer { text: text.to_owned(), at: now });
        let added = self.change(now, move |all| {
            all.retain(|_, one| one.at.plus(LASTS) > now);
            if all.len() < ANSWERS_MAX {
                all.insert(token.clone(), given.clone());
            }
        });
        if added.await.is_ok() {
            sleep(READ_EVERY).await;
        }
    }

    /// Removes the answers of this node.
    pub(super) async fn remove_own(&self, now: Millis) {
        let own = std::mem::take(&mut *lock(&self.own));
        if !own.is_empty() {
            // What stays is removed by a later order.
            let _ = self.change(now, move |all| all.retain(|token, _| !own.contains(token))).await;
        }
    }

    /// The answer to the challenge with this token, of any node.
    pub(super) async fn find(&self, token: &str, event: &mut Event) -> Option<String> {
        let mut read = self.read.lock().await;
        let every = u64::try_from(READ_EVERY.as_nanos()).unwrap_or(u64::MAX);
        if read.0.is_none_or(|at| Tick::now().since(at) >= every) {
            if self.store.database().is_none_or(|database| database.is_away()) {
                return None;
            }
            // It may be older than the note is at the end of the read.
            let began = Tick::now();
            let note = self.store.change_note(NOTE.to_owned(), |note| (None, parse(note)), event).await.ok()?;
            *read = (Some(began), note);
        }
        read.1.get(token).map(|given| given.text.clone())
    }

    async fn change(&self, now: Millis, change: impl Fn(&mut Given) + Send + 'static) -> Result<(), store::Error> {
        let make = move |note: Option<&str>| {
            let mut all = parse(note);
            change(&mut all);
            (serde_json::to_string(&all).ok(), ())
        };
        self.store.change_note(NOTE.to_owned(), make, &mut Event::job("acme", now)).await
    }
}

/// The answers in a note. One that cannot be read has none.
fn parse(note: Option<&str>) -> Given {
    note.and_then(|note| serde_json::from_str(note).ok()).unwrap_or_default()
}
