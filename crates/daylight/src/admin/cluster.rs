//! `/api/v1/cluster`: the nodes that share a database, as this one sees them, and the engines that it works with.

use crate::app::App;
use repository::moment::Moment;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use store::{DatabaseState, NodeRow, NodeState, Seq};

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Cluster {
    /// The number of the last change that this node has.
    last: u64,
    /// The database; null: there is none, and the data folder has everything.
    database: Option<Engine>,
    /// Object storage; null: the data folder has the bytes of packages.
    objects: Option<Engine>,
    /// This node, and the others as its last beat saw them; empty without a database.
    nodes: Vec<Node>,
    /// The work that one node does for all.
    leases: Vec<Lease>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Engine {
    /// Its URL, without a password.
    url: String,
    /// The number of the last change that it has, as far as this node knows; null: it is not known.
    last: Option<u64>,
    /// Since when this node cannot use it; null: it can.
    away_since: Option<Moment>,
    /// Why it cannot.
    why: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Node {
    /// `cluster.node` of its settings.
    name: String,
    /// Whether it gave this answer.
    is_this: bool,
    /// Its URL.
    url: String,
    /// The version of its program.
    version: String,
    /// The highest form of rows that it reads.
    form: u32,
    /// Joining: it does not serve yet. Draining: it ends. Gone: it has not been heard of.
    #[schemars(extend("enum" = ["joining", "serving", "draining", "gone"]))]
    state: &'static str,
    /// Whether its answers are those of now. Others have `Daylight-Stale`.
    fresh: bool,
    /// The number of the last change that it has; null: it has told of none, as one does whose history has parted from that of the database.
    last: Option<u64>,
    /// So many changes it lacks; null: it is not known, as where the histories have parted.
    behind: Option<u64>,
    /// When it was heard of last, in milliseconds before the last beat of this node; null: the database has no beat of it.
    beat_age_ms: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Lease {
    /// The work.
    name: String,
    /// The node that does it.
    node: String,
}

pub(super) fn show(app: &App) -> Value {
    let store = &app.store;
    let last = store.last();
    let database = store.database().map(|database| {
        let away = database.away();
        Engine {
            url: database.url().to_owned(),
            last: Some(store.last_of_all().0).filter(|last| *last > 0),
            away_since: away.as_ref().map(|away| Moment(away.since)),
            why: away.map(|away| away.cause),
        }
    });
    let (all, mut leases) = (store.nodes(), store.leases().holders());
    // The work of a node that is gone is done by none until another one asks for it.
    leases.retain(|(_, holder)| all.iter().any(|one| one.name == *holder && one.state != NodeState::Gone));
    let objects = store.objects().map(|objects| {
        let (away_since, why) = objects.away().map(|(since, why)| (Moment(since), why)).unzip();
        // Of several nodes, another one may have copied more.
        let copies = all.len() < 2
            || leases
                .iter()
                .any(|(name, node)| name == "segments" && all.iter().any(|one| one.is_self && one.name == *node));
        Engine { url: objects.url().to_owned(), last: copies.then(|| objects.copied().0), away_since, why }
    });
    // Nothing is known of what it lacks while it follows nobody.
    let follows = !all.is_empty() && !store.database().is_some_and(DatabaseState::has_parted);
    let newest = all.iter().filter(|node| !node.is_self).map(|node| node.seen).chain([store.last_of_all()]).max();
    // What was heard of others counts only as long as this node hears something.
    let is_fresh = |node: &NodeRow| match node.is_self {
        true => store.freshness().is_fresh(),
        false => node.fresh && !store.database().is_some_and(DatabaseState::is_away),
    };
    let beat_age_ms = all.iter().find(|node| node.is_self).and_then(|node| node.beat_age_ms);
    let own = store.this_node().map(|own| NodeRow { seen: last, beat_age_ms, ..own });
    let nodes = own.into_iter().chain(all.into_iter().filter(|node| !node.is_self)).map(|node| {
        let newest = newest.filter(|_| follows || !node.is_self);
        Node::new(NodeRow { fresh: is_fresh(&node), ..node }, newest)
    });
    let nodes = nodes.collect();
    let leases = leases.into_iter().map(|(name, node)| Lease { name, node }).collect();
    json!(Cluster { last: last.0, database, objects, nodes, leases })
}

impl Node {
    /// `newest`: the last change of the history that the node follows, as far as it is known.
    fn new(row: NodeRow, newest: Option<Seq>) -> Self {
        let NodeRow { name, url, version, form, state, fresh, seen, beat_age_ms, is_self, .. } = row;
        let state = state.as_str();
        let last = Some(seen.0).filter(|last| is_self || *last > 0);
        let behind = newest.zip(last).map(|(newest, last)| newest.0.saturating_sub(last));
        Self { name, is_this: is_self, url, version, form, state, fresh, last, behind, beat_age_ms }
    }
}
