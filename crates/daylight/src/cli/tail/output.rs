//! Where events go: to people as lines, to programs as JSON, or to a file.

use super::line::Widths;
use super::messages::{Message, Messages};
use super::recording::Recording;
use crate::cli::context::Context;
use crate::cli::failure::plain;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// The output of the command, and its counts.
pub(super) struct Output<'a, 'c> {
    context: &'a mut Context<'c>,
    recording: Option<Recording>,
    /// The most events.
    count: Option<u64>,
    widths: Widths,
    connections: u64,
    events: u64,
    /// Lost events of earlier connections, and those of this one by their nodes.
    lost: (u64, BTreeMap<String, u64>),
    done: bool,
}

/// A node that is silent, or answers again.
#[derive(Debug, Deserialize)]
struct Node {
    node: String,
    error: Option<String>,
}

/// The counts of a connection that the server sends, of several nodes those of one.
#[derive(Debug, Default, Deserialize)]
struct Counts {
    #[serde(default)]
    node: String,
    matched: u64,
    sent: u64,
    lost: u64,
}

impl<'a, 'c> Output<'a, 'c> {
    pub(super) fn new(context: &'a mut Context<'c>, recording: Option<Recording>, count: Option<u64>) -> Self {
        let widths = Widths::default();
        Self { context, recording, count, widths, connections: 0, events: 0, lost: (0, BTreeMap::new()), done: false }
    }

    /// The number of events so far.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Whether the server has ever begun to send.
    pub(super) fn was_connected(&self) -> bool {
        self.connections > 0
    }

    /// Whether there are as many events as are wanted.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes a piece of the stream. An error ends it.
    pub(super) fn take(&mut self, messages: &mut Messages, piece: &[u8]) -> io::Result<()> {
        messages.read(piece, |message| self.message(&message))?;
        self.context.out.flush()
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        match message.name.as_str() {
            "" => self.event(&message.data),
            "start" => {
                self.connections += 1;
                if self.connections > 1 {
                    self.tell("connected", &json!({}), "connected again")?;
                }
                Ok(())
            }
            "sampled" | "lost" | "end" => self.counts(message),
            "node" => self.node(message),
            // Of a newer server.
            _ => Ok(()),
        }
    }

    fn event(&mut self, data: &str) -> io::Result<()> {
        if let Some(recording) = &mut self.recording {
            if !recording.write(format!("{data}\n").as_bytes())? {
                return self.enough();
            }
        } else if self.context.flags.json {
            writeln!(self.context.out, "{data}")?;
        } else {
            let event: Value = serde_json::from_str(data)?;
            writeln!(self.context.out, "{}", self.widths.line(&event))?;
        }
        self.events += 1;
        if Some(self.events) == self.count { self.enough() } else { Ok(()) }
    }

    /// Ends the stream.
    fn enough(&mut self) -> io::Result<()> {
        self.done = true;
        Err(io::Error::other("no more events are wanted"))
    }

    fn counts(&mut self, message: &Message) -> io::Result<()> {
        let counts: Counts = serde_json::from_str(&message.data)?;
        let Counts { node, matched, sent, lost } = counts;
        let of = if node.is_empty() { String::new() } else { format!(" of node `{}`", plain(&node)) };
        self.lost.1.insert(node, lost);
        // A reader of the lines needs no count for each node.
        let value = json!({ "matched": matched, "sent": sent, "lost": self.lost.1.values().sum::<u64>() });
        match message.name.as_str() {
            "sampled" => self.tell(
                "sampled",
                &value,
                &format!("too many events{of}: {sent} of {matched} were shown so far; xN stands for N of them"),
            ),
            "lost" => self.tell(
                "lost",
                &value,
                &format!("{lost} events{of} are missing: they came faster than they were read"),
            ),
            _ => Ok(()),
        }
    }

    fn node(&mut self, message: &Message) -> io::Result<()> {
        let Node { node, error } = serde_json::from_str(&message.data)?;
        match error {
            Some(why) => {
                let text = format!("node `{node}` does not answer: {why}, so its events are missing");
                self.tell("silent", &json!({ "node": node, "why": why }), &plain(&text))
            }
            None => self.tell("heard", &json!({ "node": node }), &plain(&format!("node `{node}` answers again"))),
        }
    }

    /// The connection broke.
    pub(super) fn broken(&mut self, why: &str) -> io::Result<()> {
        self.lost = (self.lost.0 + self.lost.1.values().sum::<u64>(), BTreeMap::new());
        self.tell("broken", &json!({ "why": why }), &format!("the connection broke, and is made again: {why}"))
    }

    /// Tells people, or programs, about the stream. A recording has it, too: a replay must know which events are missing.
    fn tell(&mut self, key: &str, value: &Value, text: &str) -> io::Result<()> {
        let line = json!({ key: value });
        if let Some(recording) = &mut self.recording {
            // A line that has no room is about events that have none either.
            recording.write(format!("{line}\n").as_bytes())?;
        } else if self.context.flags.json {
            writeln!(self.context.out, "{line}")?;
            return self.context.out.flush();
        }
        writeln!(self.context.err, "{text}")?;
        self.context.err.flush()
    }

    /// The command ends as it should.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let Self { context, recording, events, lost, connections, .. } = self;
        let Some(recording) = recording else { return Ok(()) };
        let (bytes, lost, gaps) =
            (recording.bytes(), lost.0 + lost.1.values().sum::<u64>(), connections.saturating_sub(1));
        let path = recording.finish()?.display().to_string();
        if context.flags.json {
            let all = json!({ "file": path, "events": events, "bytes": bytes, "lost": lost, "gaps": gaps });
            writeln!(context.out, "{all:#}")?;
            return Ok(());
        }
        writeln!(context.out, "wrote {events} events, {bytes} bytes, to {path}")?;
        if lost > 0 {
            writeln!(context.err, "{lost} events are missing: they came faster than they were written")?;
        }
        if gaps > 0 {
            writeln!(context.err, "the connection broke {gaps} times, and the events in between are missing")?;
        }
        Ok(())
    }

    /// The command fails. The file is removed.
    pub(super) fn discard(self, error: anyhow::Error) -> anyhow::Error {
        self.recording.into_iter().for_each(Recording::discard);
        error
    }
}
