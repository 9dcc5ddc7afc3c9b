//! Headers of the setting, and the meaning of responses.

use super::*;
use crate::otlp::proto::PartialSuccess;
use http::StatusCode;

const NOW: Millis = Millis(1_793_534_400_000);

fn response(status: u16, retry_after: Option<&str>, body: &[u8]) -> client::Response {
    let retry_after = retry_after.map(|text| (RETRY_AFTER, HeaderValue::from_str(text).unwrap()));
    let headers = retry_after.into_iter().collect();
    client::Response { status: StatusCode::from_u16(status).unwrap(), headers, body: Bytes::copy_from_slice(body) }
}

#[test]
fn headers_are_read_as_the_specification_writes_them_and_never_printed() {
    let secret = Secret::new("api-key=hush, x-team = a%20b ,,X-C=d=e".to_owned());
    let receiver = Receiver::new("http://a.test:4318/otlp/", Some(&secret)).unwrap();
    let header = |name: &str| receiver.headers[name].to_str().unwrap();
    assert_eq!([header("api-key"), header("x-team"), header("x-c")], ["hush", "a b", "d=e"]);
    assert_eq!(receiver.url(), "http://a.test:4318/otlp");
    assert!(!format!("{receiver:?} {:?}", receiver.headers).contains("hush"));
    for wrong in ["hush", "hush hush=1", "=hush", "a=hush\nhush", "a=hush%0a", "a=%zzhush", " , "] {
        let why = Receiver::new("http://a.test", Some(&Secret::new(wrong.to_owned()))).unwrap_err();
        assert!(!why.contains("hush"), "{wrong}");
    }
}

#[test]
fn only_four_statuses_ask_for_the_same_request_later() {
    for status in [429, 502, 503, 504] {
        assert!(matches!(read(&response(status, None, b""), NOW), Sent::Away { pause: None, .. }), "{status}");
    }
    for status in [301, 400, 401, 404, 413, 500, 501] {
        assert_eq!(read(&response(status, None, b""), NOW), Sent::Refused { why: format!("status {status}") });
    }
}

#[test]
fn a_pause_that_the_receiver_asks_for_is_kept_up_to_ten_minutes() {
    for (text, wanted) in
        [("7", Some(7)), ("Sun, 01 Nov 2026 12:01:00 GMT", Some(60)), ("86400", Some(600)), ("x", None)]
    {
        let Sent::Away { pause, .. } = read(&response(503, Some(text), b""), NOW) else { panic!("{text}") };
        assert_eq!(pause, wanted.map(Duration::from_secs), "{text}");
    }
}

#[test]
fn rejected_items_are_counted_and_an_unreadable_answer_rejects_none() {
    let partial = Answer { partial_success: Some(PartialSuccess { rejected: 3 }) }.encode_to_vec();
    let rejected = |body: &[u8]| read(&response(200, None, body), NOW);
    assert_eq!(rejected(&partial), Sent::Taken { rejected: 3 });
    for odd in [&b""[..], b"{}", b"\xff\xff\xff", &partial[..1]] {
        assert_eq!(rejected(odd), Sent::Taken { rejected: 0 });
    }
}
