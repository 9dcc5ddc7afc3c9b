//! The reasons that the readiness probe may give: a closed list, which docs/monitoring.md shows.

macro_rules! reasons {
    ($($name:ident $text:literal $status:literal $doc:literal;)*) => {
        telemetry::closed_list! {
            /// Why the server is not ready, or which part is degraded. The line of the probe begins with the text.
            pub(crate) enum ReadyReason { $(#[doc = $doc] $name = $text,)* }
        }

        impl ReadyReason {
            /// The status of the probe.
            #[cfg(test)]
            fn status(self) -> u16 {
                match self { $(ReadyReason::$name => $status,)* }
            }

            /// What it means, for people.
            #[cfg(test)]
            fn doc(self) -> &'static str {
                match self { $(ReadyReason::$name => $doc,)* }
            }
        }
    };
}

reasons! {
    StandsStill "serving stands still" 503 "An event loop is blocked, a probe of the server through its own socket has no answer, or requests wait and none is answered. The log says what everybody was doing";
    Unreadable "the database cannot be read" 503 "The data folder is damaged, or on a disk that reports errors";
    Draining "draining" 503 "The server stops or restarts, and still answers everything for `cluster.drain_s` seconds, so that load balancers leave it";
    NotFollowing "changes of other machines cannot be taken in" 503 "PostgreSQL has a change that this version of Daylight does not know, or that nobody can have made: upgrade this machine; the log says which";
    Stale "changes of other machines may be missing" 503 "Only with `/health/ready?fresh`: answers have the header `Daylight-Stale`, as this machine has heard nothing of PostgreSQL for a second";
    ReadOnly "read-only" 200 "Nothing is written: the disk is full, the clock jumped, or PostgreSQL or object storage cannot be used";
    Nameless "another machine has the name of this one" 200 "No answer is called fresh: give each machine its own `cluster.node`, and restart this one";
    Missing "published files without bytes" 200 "Files were requested whose bytes are neither on the disk nor in object storage; the log names them";
    Clock "the machine's clock counts as wrong" 200 "Time is added to that of the machine";
    Upstreams "upstreams" 200 "Some failed repeatedly, and are not called for now";
    Behind "repositories behind their upstreams" 200 "A change that an upstream announced has not been seen yet";
    Expired "the TLS certificate expired" 200 "Clients refuse it";
    Certificate "the files of the TLS certificate cannot be used" 200 "The former certificate stays in use; the log says why";
    Placeholder "the TLS certificate is a placeholder" 200 "The authority has given none yet (`server.acme`), and clients refuse it; the log says why";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_every_reason_and_no_other() {
        let manual = include_str!("../../../../docs/monitoring.md");
        let rows = manual
            .lines()
            .filter(|line| line.starts_with("| `") && (line.contains("` | 200 |") || line.contains("` | 503 |")));
        let row = |reason: &ReadyReason| format!("| `{}` | {} | {} |", reason.as_str(), reason.status(), reason.doc());
        let expected: Vec<String> = ReadyReason::ALL.iter().map(row).collect();
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
}
