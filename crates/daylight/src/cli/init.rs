//! `daylight init`: prepares a data folder for a server.

use super::context::Context;
use super::folder;

/// Create the data folder, the first repositories and the admin token, without starting the server
///
/// Existing repositories and tokens are not changed. The admin token is printed once, as the only line on standard output. If
/// DAYLIGHT_ADMIN_TOKEN is set, it is the admin token, and nothing is printed.
#[derive(Debug, clap::Args)]
pub(super) struct Init;

impl Init {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let (settings, _) = folder::load(context)?;
        let made = crate::instance::init::init(&settings)?;
        let token = made.admin_token.as_ref().map(crate::config::Secret::expose);
        let data = made.data.display();
        if context.flags.json {
            let report = serde_json::json!({
                "data": data.to_string(), "admin_token": token, "repositories": made.repositories,
            });
            writeln!(context.out, "{report:#}")?;
            return Ok(());
        }
        for repository in &made.repositories {
            writeln!(context.err, "added repository `{repository}`")?;
        }
        match token {
            Some(token) => {
                writeln!(context.err, "`{data}` is ready; the admin token, which is shown only once:")?;
                writeln!(context.out, "{token}")?;
            }
            None => writeln!(context.err, "`{data}` is ready")?,
        }
        Ok(())
    }
}
