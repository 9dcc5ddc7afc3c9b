//! `daylight token`: the tokens of a running server.

use super::api::{Api, decode};
use super::context::Context;
use super::{failure, table};
use crate::config::duration;
use format::percent::segment;
use repository::Scope;
use serde::Deserialize;
use std::time::Duration;
use telemetry::Clock;

/// The path of the tokens in the API.
const PATH: &str = "/api/v1/tokens";

/// Create, list and revoke tokens of a running server
///
/// A token works as a gem API key, as a bearer token, and as the user name or password of Basic authentication.
#[derive(Debug, clap::Args)]
pub(super) struct TokenCommand {
    #[command(subcommand)]
    verb: TokenVerb,
}

#[derive(Debug, clap::Subcommand)]
enum TokenVerb {
    /// Create a token and print its secret, which is shown only once
    Create {
        /// Name of the token
        name: String,
        /// Person or machine that it belongs to [default: its name]
        #[arg(long, value_name = "OWNER")]
        owner: Option<String>,
        /// Scopes, with commas between them: read, write (push), delete (yank), add_owner, remove_owner, update_owner, observe (events and
        /// all names in metrics), admin (everything)
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "read",
              value_parser = clap::builder::PossibleValuesParser::new(Scope::ALL.iter().map(|scope| scope.as_str())))]
        scope: Vec<String>,
        /// Limit the token to this repository; can be repeated [default: all]
        #[arg(long = "repository", value_name = "REPOSITORY")]
        repositories: Vec<String>,
        /// The token expires after this time: 12h, 30d, 1y [default: never]
        #[arg(long, value_name = "TIME", value_parser = duration::parse)]
        expires: Option<Duration>,
        /// Changes need a one-time password as well; the key for the authenticator app is printed only once
        #[arg(long)]
        otp: bool,
    },
    /// List the tokens, without their secrets
    List,
    /// Revoke a token and the API keys that were made with it
    ///
    /// The server refuses them from then on. A token may revoke itself.
    Revoke {
        /// Name of the token
        name: String,
    },
}

#[derive(Deserialize)]
struct Created {
    secret: String,
    otp_uri: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    tokens: Vec<TokenRow>,
}

#[derive(Debug, Deserialize)]
struct TokenRow {
    name: String,
    owner: String,
    scopes: Vec<String>,
    repositories: Vec<String>,
    #[serde(default)]
    created: String,
    expires: Option<String>,
    #[serde(default)]
    expired: bool,
}

impl TokenCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        match self.verb {
            TokenVerb::Create { name, owner, scope, repositories, expires, otp } => {
                let expires = expires.map(|after| Clock::default().now().plus(after).to_string());
                let owner = owner.unwrap_or_else(|| name.clone());
                let answer = api.post(
                    PATH,
                    &serde_json::json!({
                        "name": name, "owner": owner, "scopes": scope, "repositories": repositories, "expires": expires,
                        "otp": otp,
                    }),
                )?;
                if !api.print_json(&answer, context)? {
                    let made: Created = decode(answer)?;
                    writeln!(context.out, "{}", failure::plain(&made.secret))?;
                    if let Some(uri) = made.otp_uri {
                        writeln!(context.err, "one-time passwords: {}", failure::plain(&uri))?;
                    }
                }
                let until = expires.map_or_else(String::new, |at| format!(" until {at}"));
                writeln!(context.err, "created `{}`{until}; the secret is shown only once", failure::plain(&name))?;
            }
            TokenVerb::List => {
                let answer = api.get(PATH)?;
                if api.print_json(&answer, context)? {
                    return Ok(());
                }
                let rows = decode::<Tokens>(answer)?.tokens.into_iter().map(row).collect();
                table::write(context.out, ["NAME", "OWNER", "SCOPES", "REPOSITORIES", "CREATED", "EXPIRES"], rows)?;
            }
            TokenVerb::Revoke { name } => {
                api.delete(&format!("{PATH}/{}", segment(&name)))?;
                api.print_json(&serde_json::json!({ "revoked": name }), context)?;
                writeln!(context.err, "revoked `{}`", failure::plain(&name))?;
            }
        }
        Ok(())
    }
}

fn row(token: TokenRow) -> [String; 6] {
    let repositories = if token.repositories.is_empty() { "all".to_owned() } else { token.repositories.join(",") };
    let expires = match token.expires {
        Some(at) if token.expired => format!("{at} (expired)"),
        at => at.unwrap_or_else(|| "never".to_owned()),
    };
    [token.name, token.owner, token.scopes.join(","), repositories, token.created, expires]
}
