//! How a hub is asked, and how it refuses.

use super::{built, lamp};
use crate::world::{Answer, Connection, Counted, KojiHub, Trouble};
use flate2::read::GzDecoder;
use serde_json::json;
use std::io::Read as _;

/// A request to a hub, by hand.
fn post(hub: &KojiHub, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let address = hub.url().strip_prefix("http://").unwrap().split('/').next().unwrap().parse().unwrap();
    Connection::open(address).unwrap().call(method, "/kojihub", headers, body).unwrap()
}

const LAST: &[u8] = b"<methodCall><methodName>getLastEvent</methodName><params></params></methodCall>";

#[test]
fn only_what_is_no_call_has_another_status_than_200() {
    let hub = KojiHub::start();
    assert_eq!(post(&hub, "GET", &[], b"").status, 405);
    for body in [&b""[..], b"hello", b"<html/>", &[b' '; 4 * 1024 * 1024 + 1][..]] {
        let refused = post(&hub, "POST", &[], body).expect(400);
        assert_eq!(refused.header("content-type"), Some("text/plain"));
    }
    let answer = post(&hub, "POST", &[], LAST).expect(200);
    assert_eq!(answer.header("content-type"), Some("text/xml"));
    let unknown = LAST.to_vec();
    let unknown = String::from_utf8(unknown).unwrap().replace("getLastEvent", "getNothing");
    assert!(post(&hub, "POST", &[], unknown.as_bytes()).expect(200).text().contains("<int>1000</int>"));
}

#[test]
fn wrong_arguments_have_a_code_of_their_own() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    let code = |method: &str, params, named| hub.call(method, params, named).unwrap_err().0;
    assert_eq!(code("listTagged", json!([]), json!({})), 1019);
    assert_eq!(code("listTagged", json!([tag]), json!({ "bogus": 1 })), 1019);
    assert_eq!(code("listTagged", json!([tag]), json!({ "tag": tag })), 1019);
    assert_eq!(code("getEvent", json!(["x"]), json!({})), 1019);
    assert_eq!(code("getEvent", json!([9999]), json!({})), 1000);
    assert_eq!(code("getLastEvent", json!([]), json!({ "before": 1 })), 1000);
    assert_eq!(code("getTag", json!(["nothing", true]), json!({})), 1000);
    assert_eq!(code("listTagged", json!([tag]), json!({ "type": "bogus" })), 1000);
    assert_eq!(code("queryHistory", json!([]), json!({ "tag": "nothing", "tables": ["tag_listing"] })), 1000);
    assert_eq!(code("multiCall", json!([1]), json!({})), 1);
    assert_eq!(code("login", json!(["someone", "something"]), json!({})), 1002);
}

#[test]
fn faults_in_a_round_of_calls_do_not_stop_the_others() {
    let hub = KojiHub::start();
    let tag = hub.tag("maven-release");
    let calls = json!([
        { "methodName": "getTag", "params": [tag] },
        { "methodName": "getNothing", "params": [] },
        { "methodName": "listTagged", "params": [{ "__starstar": true, "tag": "maven-release" }] },
    ]);
    let answers = hub.call("multiCall", json!([calls]), json!({})).unwrap();
    assert_eq!(answers[0][0]["name"], "maven-release");
    assert_eq!(answers[1]["faultCode"], 1000);
    assert!(answers[1]["traceback"].as_array().unwrap().len() > 1, "{answers}");
    assert_eq!(answers[2], json!([[]]));
}

#[test]
fn values_are_written_in_the_forms_of_the_hub() {
    let hub = KojiHub::start();
    let tag = hub.tag("odd_ü");
    hub.tag_build(tag, built(&hub, "odd_ü", "1.0", "org/example/oil/1.0"));
    let call = format!(
        "<methodCall><methodName>listTagged</methodName><params><param><value><int>{tag}</int></value></param></params></methodCall>"
    );
    let text = post(&hub, "POST", &[], call.as_bytes()).expect(200).text().to_owned();
    for form in [
        "<name>epoch</name>\n<value><nil/></value></member>",
        "<name>draft</name>\n<value><boolean>0</boolean></value>\n</member>",
        "<name>nvr</name>\n<value><string>odd_ü-1.0-1</string></value>\n</member>",
        "<name>completion_time</name>\n<value><string>2026-01-02 03:01:00+00:00</string></value>",
    ] {
        assert!(text.contains(form), "{form}: {text}");
    }
    let text = post(&hub, "POST", &[], LAST).expect(200).text().to_owned();
    assert!(text.contains("<name>ts</name>\n<value><double>"), "{text}");
}

#[test]
fn it_counts_calls_and_bytes_and_whatever_is_like_a_login() {
    let hub = KojiHub::start();
    lamp(&hub);
    let answer = post(&hub, "POST", &[], LAST).expect(200);
    let bytes = answer.body.len() as u64;
    let last = Counted { calls: 1, up_bytes: LAST.len() as u64, down_bytes: bytes };
    assert_eq!((hub.said()["getLastEvent"], hub.rounds(), hub.round_bytes()), (last, 1, vec![bytes]));
    assert_eq!(hub.logins(), 0, "what a test does to the hub is not counted");
    for (name, value) in [("Koji-Session-Id", "5"), ("Authorization", "Basic eA=="), ("Cookie", "a=b")] {
        post(&hub, "POST", &[(name, value)], LAST);
    }
    let login = String::from_utf8(LAST.to_vec()).unwrap().replace("getLastEvent", "login");
    post(&hub, "POST", &[], login.as_bytes());
    assert_eq!(hub.logins(), 4);
    hub.forget_counts();
    assert_eq!((hub.logins(), hub.rounds()), (0, 0));
}

#[test]
fn a_front_compresses_for_those_that_accept_it() {
    let hub = KojiHub::start();
    hub.compresses(true);
    assert_eq!(post(&hub, "POST", &[], LAST).header("content-encoding"), None);
    let packed = post(&hub, "POST", &[("Accept-Encoding", "gzip")], LAST);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&packed.body[..]).read_to_string(&mut text).unwrap();
    assert!(text.contains("<double>"), "{text}");
}

#[test]
fn trouble_is_what_a_test_says() {
    let hub = KojiHub::start();
    hub.trouble(Trouble::Offline);
    let text = post(&hub, "POST", &[], LAST).expect(200).text().to_owned();
    assert!(text.contains("<fault>") && text.contains("<int>1014</int>"), "{text}");
    hub.trouble(Trouble::Fault(1, "<class 'TypeError'>".to_owned()));
    assert!(post(&hub, "POST", &[], LAST).expect(200).text().contains("&lt;class"));
    hub.trouble(Trouble::Status(503));
    post(&hub, "POST", &[], LAST).expect(503);
    hub.trouble(Trouble::Padded(1000));
    assert!(post(&hub, "POST", &[], LAST).expect(200).body.len() > 1000);
    hub.trouble(Trouble::Garbage);
    assert!(!post(&hub, "POST", &[], LAST).expect(200).text().contains("</methodResponse>"));
    hub.trouble(Trouble::Body(b"<a/>".to_vec()));
    assert_eq!(post(&hub, "POST", &[], LAST).expect(200).text(), "<a/>");
    hub.well();
    assert!(post(&hub, "POST", &[], LAST).expect(200).text().contains("</methodResponse>"));
}
