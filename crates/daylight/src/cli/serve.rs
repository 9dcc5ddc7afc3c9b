//! `daylight serve`: the server itself.

use super::context::Context;
use super::folder;
use crate::config::Flag;
use crate::serve::handover::Sockets;
use crate::serve::supervisor::Supervisor;

/// Run the server
///
/// Without flags it keeps its data in ./daylight-data and listens on http://127.0.0.1:8080. The first start adds the first repositories,
/// among them the groups `gems` and `maven` to install packages from, and prints an admin token once.
///
/// SIGTERM and SIGINT stop the server after the requests under way. SIGHUP reads the certificate and the repositories of the
/// configuration file again. SIGUSR2 restarts with the current binary and configuration, and refuses no connection meanwhile. A listening
/// socket from standard input or from systemd replaces --listen; one of systemd with the name `http` replaces `server.http_listen`.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// Address and port to listen on; port 0 takes a free port [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    listen: Option<String>,
    /// For the conformance tests of gem servers, on loopback only: anybody may set the clock of the server
    ///
    /// New repositories use the older /info format, the key in DAYLIGHT_CONFORMANCE_KEY allows everything, and each repository answers
    /// POST set_time (ISO 8601) and POST rebuild_versions_list.
    #[arg(long, help_heading = "Tests")]
    conformance: bool,
}

impl Serve {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let listen = || self.listen.clone().map(|value| Flag { key: "server.listen", flag: "--listen", value });
        let (mut settings, mut loaded) = folder::read(listen(), context)?;
        settings.conformance = self.conformance;
        if settings.conformance_key.is_some() && !settings.conformance {
            loaded.warnings.push("`DAYLIGHT_CONFORMANCE_KEY` has no effect without `--conformance`".to_owned());
        }
        let sockets = Sockets::passed(context.environment, settings.server.http_listen.0)?;
        if sockets.has_unused_http {
            let message =
                "the socket of systemd with the name `http` has no effect while `server.http_listen` is not set";
            loaded.warnings.push(message.to_owned());
        }
        let read_again = || folder::read(listen(), context);
        let supervisor = Supervisor::of(context.environment);
        crate::serve::run(settings, loaded, sockets, supervisor, &read_again, context.flags.json)
    }
}
