//! `daylight serve`: the server itself.

use super::context::Context;
use super::folder;
use crate::config::Flag;
use crate::handover;

/// Serve repositories until told to stop
///
/// Works without any flag: data in ./daylight-data, on http://127.0.0.1:8080. The first start makes the
/// first repositories, of them the groups `gems` and `maven`, from which builds install, and prints an
/// admin token, once. SIGTERM and SIGINT stop it after the requests under way; SIGUSR2 restarts it
/// without refusing anybody. A listening socket that it is given (as standard input, or by systemd) is
/// used in place of --listen.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Serve {
    /// Address and port; port 0 takes a free one [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    listen: Option<String>,
    /// For the conformance suite of gem servers, on loopback alone: anybody may set the time of day
    ///
    /// New repositories have the older info format, the key in DAYLIGHT_CONFORMANCE_KEY is good for everything, and below
    /// a repository's root POST set_time (ISO 8601) and POST rebuild_versions_list are answered.
    #[arg(long, verbatim_doc_comment)]
    conformance: bool,
}

impl Serve {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let listen = || self.listen.clone().map(|value| Flag { key: "server.listen", flag: "--listen", value });
        let (mut settings, mut loaded) = folder::read(listen(), context)?;
        settings.conformance = self.conformance;
        if settings.conformance_key.is_some() && !settings.conformance {
            loaded.warnings.push("`DAYLIGHT_CONFORMANCE_KEY` means nothing without `--conformance`".to_owned());
        }
        let listener = handover::socket(context.environment)?;
        let read_again = || folder::read(listen(), context);
        crate::serve::run(settings, loaded, listener, &read_again)
    }
}
