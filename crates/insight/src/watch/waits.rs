//! Which waits are the server's own: a request that waits for an upstream, for the bytes of a client, for an application or for a person's
//! question does not stand still.

use telemetry::{Op, OpenRequestGlance};

/// Whether the request waits for the server itself.
pub(super) fn counts(request: &OpenRequestGlance<'_>, waits_for_upstreams: bool) -> bool {
    let vital = request.path.starts_with("/health/") || request.path == "/metrics";
    !vital && request.ops.all().all(|op| is_own(op, waits_for_upstreams))
}

/// Whether a request that waits for `op` waits for the server itself. `waits_for_upstreams`: calls to upstreams are under way, so a request
/// may wait for another one that waits for one of these.
fn is_own(op: Op, waits_for_upstreams: bool) -> bool {
    match op {
        // The client.
        Op::HeadRead
        | Op::TlsHandshake
        | Op::BodyReceive
        | Op::BodySend
        | Op::BodyRead
        | Op::BodyWait
        | Op::ReplyWrite => false,
        // An upstream.
        Op::FlightWait
        | Op::UpstreamWait
        | Op::UpstreamPause
        | Op::UpstreamResolve
        | Op::UpstreamTcp
        | Op::UpstreamProxy
        | Op::UpstreamTls
        | Op::UpstreamFirstByte
        | Op::UpstreamBody
        | Op::KojiCall => false,
        // Another task, which may wait for an upstream.
        Op::TurnWait | Op::ViewWait | Op::MembersAsk | Op::FoldersChange => !waits_for_upstreams,
        // An application, or the servers that keep its pages.
        Op::AppCacheWait
        | Op::AppPagesRead
        | Op::AppWait
        | Op::AppConnect
        | Op::AppAnswer
        | Op::AppBody
        | Op::SpoolWrite => false,
        // A question of a person, which may be long.
        Op::EventsRead | Op::EventsWait | Op::AskWait | Op::MetricsWrite | Op::ProfileWait => false,
        // The way to object storage has limits of its own, and the store tells when it is away.
        Op::ObjectWait | Op::ObjectPut | Op::ObjectGet | Op::ObjectLook | Op::ObjectList | Op::ObjectDelete => false,
        // Work of jobs.
        Op::PageCompress
        | Op::AlertSend
        | Op::BlobCollect
        | Op::IndexKeep
        | Op::SegmentShip
        | Op::Check
        | Op::Rebuild
        | Op::Adopt
        | Op::Backup
        | Op::Restore
        | Op::Rehearse
        | Op::OtlpSend
        | Op::AcmeCall
        | Op::AcmeWait
        | Op::AcmeKeep => false,
        // The database of PostgreSQL, which is another server.
        Op::NodesWait | Op::CommitEverywhere | Op::DatabaseConnect | Op::DatabaseAppend | Op::DatabaseRead => false,
        Op::PageLookup
        | Op::PageKeep
        | Op::Route
        | Op::ReplyMake
        | Op::HeadParse
        | Op::TruthWait
        | Op::TruthRead
        | Op::CommitWait
        | Op::Commit
        | Op::CacheWait
        | Op::CacheRead
        | Op::CacheWrite
        | Op::BlobWait
        | Op::BlobWrite
        | Op::BlobSync
        | Op::BlobOpen
        | Op::BlobRead
        | Op::IndexRead
        | Op::DigestsMake
        | Op::Hash
        | Op::BodyDecode
        | Op::KojiRead
        | Op::KojiApply
        | Op::AppCacheLookup
        | Op::AppPagesMake
        | Op::WorkWait
        | Op::PackageRead
        | Op::FactsRead
        | Op::IndexRender
        | Op::LoopWait
        | Op::Merge
        | Op::IndexExtend
        | Op::NodesMerge
        | Op::ReferencesRead
        | Op::TokenCheck => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{EventId, OpsUnderWay, Tick};

    fn counted(path: &str, op: Op, waits_for_upstreams: bool) -> bool {
        let (id, began, ops) = (EventId(1), Tick(1), OpsUnderWay::only(op));
        counts(&OpenRequestGlance { id, began, path, ops, bytes: 0 }, waits_for_upstreams)
    }

    #[test]
    fn requests_that_wait_for_others_do_not_count() {
        for op in [Op::FlightWait, Op::BodyReceive, Op::BodySend, Op::BodyWait, Op::AppAnswer, Op::AskWait] {
            assert!(!counted("/repository/a/b", op, false), "{op:?}");
        }
        assert!(counted("/repository/a/b", Op::TruthRead, true));
        assert!(!counted("/health/ready", Op::TruthRead, false));
        assert_eq!([true, false].map(|calls| counted("/repository/a/b", Op::TurnWait, calls)), [false, true]);
    }
}
