//! The proof that a node asks: an HMAC with the random text that its row has in the database since its start. Only nodes and readers of
//! the database know it. A proof is for one node and one URL, and it is refused when its node has beaten many times since.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use front::Request;
use hmac::{Hmac, KeyInit, Mac};
use http::header::HeaderName;
use http::{HeaderValue, Method};
use sha2::Sha256;
use store::{NodeRow, NodeState};

/// The header: the name of the node, its last beat, and the HMAC.
pub(super) const HEADER: HeaderName = HeaderName::from_static("daylight-node");
/// So many beats a proof is valid: four minutes of a node that has nothing to tell, and a few seconds of one that writes all the time.
const BEATS: u64 = 1_000;

/// The proof of `own` for `to`. `target`: path and query.
pub(super) fn make(own: &NodeRow, to: &NodeRow, method: &Method, target: &str) -> Option<HeaderValue> {
    let code = code(own, own.beat, to, method, target)?.finalize().into_bytes();
    HeaderValue::try_from(format!("{} {} {}", own.name, own.beat, URL_SAFE_NO_PAD.encode(code))).ok()
}

/// Whether one of these nodes makes the request, as far as the one that is asked knows.
pub(super) fn is_right(nodes: &[NodeRow], request: &Request) -> bool {
    let is_right = || {
        let mut shown = request.headers.get(HEADER)?.to_str().ok()?.split(' ');
        let (name, beat, code) = (shown.next()?, shown.next()?.parse::<i64>().ok()?, shown.next()?);
        let own = nodes.iter().find(|node| node.is_self)?;
        let by = nodes.iter().find(|node| !node.is_self && node.name == name)?;
        let target = request.target()?;
        let right = self::code(by, beat, own, &request.method, target.as_str())?;
        let is_new = by.beat.abs_diff(beat) <= BEATS && by.state != NodeState::Gone;
        Some(is_new && right.verify_slice(&URL_SAFE_NO_PAD.decode(code).ok()?).is_ok())
    };
    is_right().unwrap_or(false)
}

fn code(by: &NodeRow, beat: i64, to: &NodeRow, method: &Method, target: &str) -> Option<Hmac<Sha256>> {
    let code = Hmac::<Sha256>::new_from_slice(by.instance.as_bytes()).ok()?;
    Some(code.chain_update(format!("{} {beat} {} {} {method} {target}", by.name, to.name, to.instance)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;
    use std::net::Ipv4Addr;
    use store::Seq;

    fn nodes(own: &str) -> Vec<NodeRow> {
        let node = |name: &str| NodeRow {
            name: name.to_owned(),
            instance: format!("secret of {name}"),
            beat: 5_000,
            url: String::new(),
            version: String::new(),
            form: 1,
            state: NodeState::Serving,
            fresh: true,
            seen: Seq(1),
            beat_age_ms: Some(0),
            is_self: name == own,
        };
        ["a", "b", "c"].map(node).to_vec()
    }

    fn request(method: Method, target: &str, proof: Option<HeaderValue>) -> Request {
        let headers: HeaderMap = proof.map(|proof| (HEADER, proof)).into_iter().collect();
        Request::new(method, target.parse().unwrap(), headers, Ipv4Addr::LOCALHOST.into())
    }

    #[test]
    fn a_proof_is_for_one_node_one_method_and_one_url_and_does_not_last() {
        let (a, b) = (nodes("a"), nodes("b"));
        let target = "/api/v1/findings?state=open";
        let proof = make(&a[0], &a[1], &Method::GET, target);
        let is_right = |nodes: &[NodeRow], method, target| is_right(nodes, &request(method, target, proof.clone()));
        assert!(is_right(&b, Method::GET, target));
        assert!(!is_right(&b, Method::POST, target));
        assert!(!is_right(&b, Method::GET, "/api/v1/findings?state=closed"));
        assert!(!is_right(&nodes("c"), Method::GET, target), "another node was asked");
        assert!(!is_right(&a, Method::GET, target), "a node does not ask itself");
        let mut later = b.clone();
        later[0].beat += 1_001;
        assert!(!is_right(&later, Method::GET, target));
        let mut restarted = b;
        restarted[0].instance = "another secret".to_owned();
        assert!(!is_right(&restarted, Method::GET, target));
    }

    #[test]
    fn texts_that_are_no_proof_prove_nothing() {
        let nodes = nodes("b");
        for text in ["", "a", "a 5000", "a 5000 ", "a 5000 zz", "a 5000 \u{e4}", "d 5000 00", "b 5000 00", "a -1 00"] {
            let proof = HeaderValue::from_bytes(text.as_bytes()).unwrap();
            assert!(!is_right(&nodes, &request(Method::GET, "/", Some(proof))), "{text}");
        }
        assert!(!is_right(&nodes, &request(Method::GET, "/", None)));
    }
}
