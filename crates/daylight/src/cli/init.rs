//! `daylight init`: a data folder, ready to be served.

use super::context::Context;
use super::folder;

/// Make the data folder, the first repositories and the admin token, without serving
///
/// What exists already is left as it is. The admin token is the only thing on standard output; it is
/// shown this once. With DAYLIGHT_ADMIN_TOKEN set, that is the token, and nothing is printed.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Init;

impl Init {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (settings, _) = folder::load(context)?;
        let made = crate::init::init(&settings)?;
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
            writeln!(context.err, "made repository `{repository}`")?;
        }
        match token {
            Some(token) => {
                writeln!(context.err, "`{data}` is ready; this is its admin token, shown only now:")?;
                writeln!(context.out, "{token}")?;
            }
            None => writeln!(context.err, "`{data}` is ready")?,
        }
        Ok(())
    }
}
