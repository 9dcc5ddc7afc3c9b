//! Live events of the other nodes: their streams of Server-Sent Events, message by message, with the name of the node in each.

use super::{ANSWER_MAX, CONNECT, GONE, Others, accepted, body};
use bytes::Bytes;
use client::{ClientOptions, Connection, Trust};
use http::Method;
use insight::Tail;
use serde_json::json;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Context;
use std::time::Duration;
use store::{NodeRow, NodeState, Store};
use telemetry::{Tick, lock};
use tokio::time::{sleep, timeout};

/// How often it is looked whether a node still runs.
const LOOK: Duration = Duration::from_secs(1);
/// The pause before a node is asked again.
const PAUSE: Duration = Duration::from_secs(2);
/// A node that sends nothing for so long has gone: it sends a comment every 15 seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// The time limit of a call without an end.
const ENDLESS: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The longest message, in bytes. A node sends shorter ones.
const MESSAGE_MAX: usize = 1 << 20;

/// The streams of the other nodes.
pub(crate) struct OtherTails {
    own: String,
    streams: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
    inbox: Arc<Mutex<Inbox>>,
}

/// The messages that wait for the listener.
#[derive(Debug, Default)]
struct Inbox {
    messages: Vec<u8>,
    /// Events for which there was no room, and of how many of them the listener was told.
    lost: (u64, u64),
}

/// The stream of one node.
struct Stream {
    node: String,
    inbox: Arc<Mutex<Inbox>>,
    /// A message that has not ended.
    begun: Vec<u8>,
    /// The listener was told that the node is silent.
    is_silent: bool,
}

impl OtherTails {
    /// Listens to all of them. `query`: that of the person who listens; `caller`: their number.
    pub(crate) fn listen(store: &Arc<Store>, others: &Others, query: &str, caller: u64) -> Self {
        let inbox = Arc::<Mutex<Inbox>>::default();
        let query = if query.is_empty() { String::new() } else { format!("&{query}") };
        let target = format!("/api/v1/tail?caller={caller}{query}");
        let follow = |to: &NodeRow| {
            let (node, inbox) = (to.name.clone(), inbox.clone());
            let stream = Stream { node, inbox, begun: Vec::new(), is_silent: false };
            Box::pin(stream.follow(store.clone(), target.clone())) as Pin<Box<dyn Future<Output = ()> + Send>>
        };
        Self { own: others.own().to_owned(), streams: others.others.iter().map(follow).collect(), inbox }
    }

    /// The messages that have come. Nothing is read from the nodes while nobody calls this.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Bytes {
        for stream in &mut self.streams {
            // It does not end.
            let _ = stream.as_mut().poll(cx);
        }
        std::mem::take(&mut lock(&self.inbox).messages).into()
    }

    /// Messages of this node, with its name in each.
    pub(crate) fn named(&self, messages: &[u8]) -> Vec<u8> {
        let mut named = Vec::with_capacity(messages.len() + messages.len() / 8);
        name(messages, &self.own, &mut named);
        named
    }
}

impl fmt::Debug for OtherTails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtherTails").field("inbox", &self.inbox).finish_non_exhaustive()
    }
}

impl Inbox {
    fn push(&mut self, message: &[u8], node: &str) {
        if (self.messages.len() + message.len()) as u64 > Tail::QUEUE_BYTES {
            self.lost.0 += 1;
            return;
        }
        if self.lost.0 > self.lost.1 {
            self.lost.1 = self.lost.0;
            let data = json!({ "matched": 0, "sent": 0, "lost": self.lost.0 });
            self.messages.extend_from_slice(format!("event: lost\ndata: {data}\n\n").as_bytes());
        }
        name(message, node, &mut self.messages);
    }
}

impl Stream {
    /// Listens without end: again after a pause where the node ends it or is silent.
    async fn follow(mut self, store: Arc<Store>, target: String) {
        loop {
            let why = self.listen(&store, &target).await;
            if !std::mem::replace(&mut self.is_silent, true) {
                self.tell(Some(&why));
            }
            sleep(PAUSE).await;
        }
    }

    /// Listens until the node ends it. Returns why it did.
    async fn listen(&mut self, store: &Store, target: &str) -> String {
        let node = self.node.clone();
        let Some((others, to)) = running(store, &node) else { return GONE.to_owned() };
        let request = others.request(&to, Method::GET, target, Bytes::new());
        let options = ClientOptions {
            connect_timeout: CONNECT,
            total_timeout: ENDLESS,
            max_body_bytes: ANSWER_MAX,
            trust: Trust::MACHINE,
        };
        self.begun.clear();
        let heard = AtomicU64::new(Tick::now().0);
        let mut take = |piece: &[u8]| {
            heard.store(Tick::now().0, Relaxed);
            self.take(piece)
        };
        let mut connection = Connection::new(options);
        let mut call = Box::pin(connection.call_for(request, &mut take));
        loop {
            match timeout(LOOK, call.as_mut()).await {
                Ok(ended) => {
                    let ended = body(accepted(&to, ended.map_err(|error| error.to_string())));
                    return ended.map_or_else(|why| why, |_| "it ended the stream".to_owned());
                }
                Err(_) if running(store, &node).is_none() => return GONE.to_owned(),
                Err(_) if Tick::now() > Tick(heard.load(Relaxed)).plus(SILENCE) => {
                    return format!("it sent nothing for {} s", SILENCE.as_secs());
                }
                Err(_) => {}
            }
        }
    }

    /// Takes a piece of the stream.
    fn take(&mut self, piece: &[u8]) -> io::Result<()> {
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            // An empty line ends a message.
            let is_end = line == b"\n" && self.begun.ends_with(b"\n");
            self.begun.extend_from_slice(line);
            if self.begun.len() > MESSAGE_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is longer than 1 MiB"));
            }
            if is_end {
                let message = std::mem::take(&mut self.begun);
                self.message(&message);
            }
        }
        Ok(())
    }

    fn message(&mut self, message: &[u8]) {
        let of_name = |name: &str| message.starts_with(format!("event: {name}\n").as_bytes());
        if message.starts_with(b"retry:") {
            // The first one.
            if std::mem::take(&mut self.is_silent) {
                self.tell(None);
            }
        } else if !message.starts_with(b":") && !of_name("end") {
            lock(&self.inbox).push(message, &self.node);
        }
    }

    /// Tells the listener that the node is silent, or answers again.
    fn tell(&self, why: Option<&str>) {
        let message = format!("event: node\ndata: {}\n\n", json!({ "error": why }));
        lock(&self.inbox).push(message.as_bytes(), &self.node);
    }
}

/// All nodes, and the one of this name, if it runs.
fn running(store: &Store, name: &str) -> Option<(Others, NodeRow)> {
    let others = Others::known(store)?;
    let to = others.others.iter().find(|to| to.name == name && to.state != NodeState::Gone)?.clone();
    Some((others, to))
}

/// Puts the name of a node into the data of messages, which is a JSON object on one line.
fn name(messages: &[u8], node: &str, named: &mut Vec<u8>) {
    for line in messages.split_inclusive(|byte| *byte == b'\n') {
        let Some(fields) = line.strip_prefix(b"data: {") else {
            named.extend_from_slice(line);
            continue;
        };
        named.extend_from_slice(format!("data: {{\"node\":{}", json!(node)).as_bytes());
        if !fields.starts_with(b"}") {
            named.push(b',');
        }
        named.extend_from_slice(fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream { node: "b".to_owned(), inbox: Arc::default(), begun: Vec::new(), is_silent: false }
    }

    #[test]
    fn messages_get_the_name_of_their_node_in_whatever_pieces_they_arrive() {
        let sent = "retry: 2000\nevent: start\ndata: {}\n\ndata: {\"id\":\"1\"}\n\n:\n\nevent: lost\ndata: {\"lost\":1}\n\nevent: end\ndata: {}\n\n";
        let expected = "data: {\"node\":\"b\",\"id\":\"1\"}\n\nevent: lost\ndata: {\"node\":\"b\",\"lost\":1}\n\n";
        for cut in 0..sent.len() {
            let mut stream = stream();
            for piece in [&sent[..cut], &sent[cut..]] {
                stream.take(piece.as_bytes()).unwrap();
            }
            assert_eq!(String::from_utf8_lossy(&lock(&stream.inbox).messages), expected, "{cut}");
        }
    }

    #[test]
    fn a_listener_that_does_not_read_loses_events_and_is_told() {
        let stream = stream();
        let message = format!("data: {{\"path\":\"{}\"}}\n\n", "x".repeat(9_000));
        (0..100).for_each(|_| lock(&stream.inbox).push(message.as_bytes(), "b"));
        let first = std::mem::take(&mut lock(&stream.inbox).messages);
        assert!((500_000..530_000).contains(&first.len()), "{}", first.len());
        stream.tell(None);
        let text = String::from_utf8(lock(&stream.inbox).messages.clone()).unwrap();
        let lost = 100 - first.iter().filter(|byte| **byte == b'{').count();
        assert!(text.contains(&format!("event: lost\ndata: {{\"lost\":{lost},")), "{text}");
        assert!(text.ends_with("event: node\ndata: {\"node\":\"b\",\"error\":null}\n\n"), "{text}");
    }
}
