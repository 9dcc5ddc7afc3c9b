//! `daylight mcp`: a server of the Model Context Protocol on standard input and output, through which a model asks a running server.

mod arguments;
mod columns;
mod lines;
mod message;
mod protocol;
mod told;
mod tools;

use super::api::Api;
use super::context::Context;
use lines::Line;
use message::{Code, Message, Refusal};
use serde_json::Value;
use std::io::BufRead;

/// Let a language model ask a running server, through the Model Context Protocol (MCP)
///
/// A client of the protocol starts this command and talks to it on standard input and output; it ends with its input. Its tools are read-only:
/// findings, ask, explain, explain_event and upstreams. They show what the token in DAYLIGHT_TOKEN may see; use one with the scope `observe` alone.
/// Texts of strangers are marked as data in each answer. docs/mcp.md has the lines for clients.
#[derive(Debug, clap::Args)]
pub(super) struct Mcp;

impl Mcp {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        talk(&api, &mut std::io::stdin().lock(), context)
    }
}

/// Answers each message, until the input ends.
fn talk(api: &Api, input: &mut impl BufRead, context: &mut Context<'_>) -> anyhow::Result<()> {
    loop {
        let reply: Option<Value> = match lines::next(input)? {
            Line::End => return Ok(()),
            Line::TooLong => {
                let refusal = Refusal::new(Code::NoRequest, "the line is too long");
                protocol::reply(api, Message::Bad { id: None, refusal })
            }
            Line::Text(line) => protocol::reply(api, Message::read(&line)),
        };
        if let Some(reply) = reply {
            // One line: JSON escapes each line feed.
            writeln!(context.out, "{reply}")?;
            context.out.flush()?;
        }
    }
}
