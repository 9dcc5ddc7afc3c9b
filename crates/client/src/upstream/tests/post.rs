//! Questions that are sent with `POST`, and hosts that are set apart.

use super::stand_in::{StandIn, ok};
use super::*;
use crate::host_options::Apart;
use crate::post::Post;

const HUB: Apart = Apart { name: "hub", calls: 2 };

impl World {
    fn post(&self, upstream: &Upstream, patience: u32) -> Result<(u16, String), Error> {
        // The stand-in reads heads alone, so the question ends like one.
        let post = Post { body: "<question/>\r\n\r\n".into(), content_type: "text/xml", patience };
        let event = &mut Event::job("test", Millis(1));
        self.runtime.block_on(async {
            let mut answer = upstream.post(&post, event).await?;
            let mut body = Vec::new();
            while let Some(piece) = answer.next(event).await {
                body.extend_from_slice(&piece?);
            }
            Ok((answer.status(), String::from_utf8(body).unwrap()))
        })
    }

    fn hub(&self, url: &str) -> Upstream {
        self.upstream_with(&[url], UpstreamOptions { apart: Some(HUB), ..UpstreamOptions::default() })
    }
}

#[test]
fn a_question_goes_to_the_url_itself_with_its_length_and_accepts_gzip() {
    let there = StandIn::new([("/kojihub", ok("answer"))]);
    let world = World::new();
    let hub = world.hub(&format!("{}/kojihub/", there.url));
    assert_eq!(world.post(&hub, 1).unwrap(), (200, "answer".to_owned()));
    let heads = there.heads().concat().to_ascii_lowercase();
    let length = "content-length: 15\r\n";
    for expected in ["post /kojihub http/1.1\r\n", "accept-encoding: gzip\r\n", "content-type: text/xml\r\n", length] {
        assert!(heads.contains(expected), "{heads}");
    }
    assert!(heads.ends_with("<question/>\r\n\r\n") && !heads.contains("authorization"), "{heads}");
}

#[test]
fn no_redirect_takes_a_question_elsewhere() {
    let there = StandIn::new([
        ("/a", "HTTP/1.1 308 Permanent Redirect\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n".to_owned()),
        ("/b", ok("answer")),
    ]);
    let world = World::new();
    let hub = world.hub(&format!("{}/a", there.url));
    assert_eq!(world.post(&hub, 1).unwrap().0, 308);
    assert_eq!(there.heads().len(), 1);
}

#[test]
fn the_circuit_of_a_host_that_is_set_apart_is_its_own() {
    let there = StandIn::new([("/hub", "...".to_owned()), ("/files/a", ok("hello"))]);
    let world = World::new();
    let (hub, files) = (world.hub(&format!("{}/hub", there.url)), world.upstream(&[&format!("{}/files", there.url)]));
    assert_eq!(world.post(&hub, 1).unwrap_err().label(), "silent");
    assert!(matches!(hub.states()[0].circuit, Circuit::Open { .. }));
    assert_eq!(world.get(&files, "a"), Ok((200, "hello".to_owned())));
    let (hub, files) = (&hub.states()[0], &files.states()[0]);
    assert_eq!((hub.calls_max, files.circuit), (2, Circuit::Closed { failures: 0 }));
    assert_eq!(hub.host, format!("{} (hub)", files.host));
}
