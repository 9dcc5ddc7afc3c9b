//! `daylight front purge`: drops stored responses of an application.

use crate::cli::api::{Api, decode};
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::target::FRONT_SERVER;
use format::percent::segment;
use serde::Deserialize;
use serde_json::json;

/// Drop stored responses of an application, by URL or by tag
///
/// The next request for such a page reaches the application. The application sends tags in `Surrogate-Key` and `Cache-Tag`.
/// It calls the admin address of a running front, by default http://127.0.0.1:8081, with the token in DAYLIGHT_TOKEN.
#[derive(Debug, clap::Args)]
pub(super) struct FrontPurge {
    /// Name of the application; the only application of a command line is called `app`
    #[arg(value_name = "NAME")]
    name: String,
    /// URL whose stored responses are dropped, or its path and query for every host; may be repeated
    #[arg(long, value_name = "URL", required_unless_present = "tag")]
    url: Vec<String>,
    /// Tag whose stored responses are dropped; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    responses: u64,
}

impl FrontPurge {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        if context.flags.data.is_some() || context.flags.config.is_some() {
            let hint = "`--server URL` names the admin address of the front";
            return Err(Failure::usage(
                "`daylight front purge` calls a front that runs, which has its own settings",
                hint,
            )
            .into());
        }
        let api = Api::at(FRONT_SERVER, context)?;
        let path = format!("/api/v1/apps/{}/purge", segment(&self.name));
        let answer = api.post(&path, &json!({ "urls": self.url, "tags": self.tag }))?;
        if !api.print_json(&answer, context)? {
            writeln!(context.out, "dropped {} stored responses", decode::<Answer>(answer)?.responses)?;
        }
        Ok(())
    }
}
