//! A handler that passes requests on gets unchanged whatever may be sent.

use crate::handlers::front;
use crate::http2;
use crate::running_front::{Client, Front};
use front::{Reply, Request};
use http::{HeaderValue, StatusCode};

/// A front that answers with the request as its handler sees it. Header names are in small letters.
fn mirror() -> Front {
    front(|request: &mut Request| {
        let target = request.target().map_or_else(|| "-".to_owned(), |target| target.to_string());
        let mut seen = format!("{} {target} {:?} {:?}\n", request.method, request.version, request.host()).into_bytes();
        for (name, value) in &request.headers {
            seen.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\n"].concat());
        }
        Reply::text(StatusCode::OK, seen)
    })
}

fn seen(client: &mut Client, request: impl AsRef<[u8]>) -> String {
    client.send(request);
    let answer = client.answer();
    assert_eq!(answer.status, 200, "{}", answer.head);
    // Bytes above ASCII, too.
    answer.body.iter().map(|byte| char::from(*byte)).collect()
}

#[test]
fn methods_and_targets_arrive_as_they_were_sent() {
    let front = mirror();
    let mut client = front.client();
    for method in ["GET", "M-SEARCH", "PROPFIND", "get", "TRACE", "X!#$%&'*+-.^_`|~9"] {
        let told = seen(&mut client, format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n"));
        assert!(told.starts_with(&format!("{method} / HTTP/1.1 Some(\"a\")\n")), "{told}");
    }
    for target in [
        "/a;b=c/d;e",
        "/a%2fb%2Fc%00%ff%",
        "//a///b",
        "/a/../b/./c/..",
        "/A/b",
        "/?",
        "/a?b?c=/../&d;e",
        "/[]|^{}\"\\!$'()*,:@",
        "/a?x=%7B%22a%22:[1,{}]}^`|",
        "/\u{e9}?\u{e9}",
    ] {
        for more in ["", "te: x\r\ncontent-length: 1\r\n"] {
            let body = if more.is_empty() { "" } else { "x" };
            let told = seen(&mut client, format!("GET {target} HTTP/1.1\r\nhost: a\r\n{more}\r\n{body}"));
            let target: String = target.bytes().map(char::from).collect();
            assert!(told.starts_with(&format!("GET {target} HTTP/1.1 ")), "{told}");
        }
    }
    let told = seen(&mut client, "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n");
    assert!(told.starts_with("OPTIONS * HTTP/1.1"), "{told}");
    let long = format!("/{}", "l".repeat(8_000));
    assert!(seen(&mut client, format!("GET {long} HTTP/1.1\r\nhost: a\r\n\r\n")).contains(&long));
}

#[test]
fn the_host_of_a_url_wins_and_a_url_has_no_credentials() {
    let front = mirror();
    let mut client = front.client();
    let told = seen(&mut client, "GET http://B.example:80/a?b HTTP/1.1\r\nHost: a\r\nx: y\r\n\r\n");
    assert_eq!(told, "GET /a?b HTTP/1.1 Some(\"B.example:80\")\nhost: B.example:80\nx: y\n");
    let told = seen(&mut client, "GET / HTTP/1.1\r\nHost: A.example\r\n\r\n");
    assert_eq!(told, "GET / HTTP/1.1 Some(\"A.example\")\nhost: A.example\n");
    // No browser sends `<` or `"` there, nor bytes that are not UTF-8.
    for refused in [
        "GET /< HTTP/1.1\r\nhost: b\r\n\r\n",
        "GET http://u:p@b/ HTTP/1.1\r\nhost: b\r\n\r\n",
        "GET /a b HTTP/1.1\r\nhost: b\r\n\r\n",
    ] {
        client = front.client();
        client.send(refused);
        assert_eq!(client.answer().status, 400);
    }
}

#[test]
fn up_to_a_hundred_lines_and_32_kib_of_any_bytes_arrive() {
    let front = mirror();
    let mut client = front.client();
    let lines: String = (0..99).map(|number| format!("x-{number}: {}\r\n", "v".repeat(300))).collect();
    let told = seen(&mut client, format!("GET / HTTP/1.1\r\nhost: a\r\n{lines}\r\n"));
    assert_eq!((told.lines().count(), told.matches("v").count()), (101, 99 * 300));
    let mut request =
        b"GET / HTTP/1.1\r\nHost: a\r\nX-Bytes: \xe9\t\xff \r\nX-Twice: 1\r\nx-twice:2\r\nX_Low: 3\r\n\r\n".to_vec();
    let expected = "host: a\nx-bytes: \u{e9}\t\u{ff}\nx-twice: 1\nx-twice: 2\nx_low: 3\n";
    assert!(seen(&mut client, &request).ends_with(expected));
    request.splice(..3, *b"POST");
    assert!(seen(&mut client, &request).ends_with(expected));
    client.send(format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "x: y\r\n".repeat(100)));
    assert_eq!(client.answer().status, 431);
}

#[test]
fn older_clients_keep_their_connection_if_they_ask_to() {
    let front = mirror();
    let mut client = front.client();
    for host in ["", "host: a\r\n"] {
        client.send(format!("GET /a HTTP/1.0\r\n{host}Connection: Keep-Alive\r\n\r\n"));
        let answer = client.answer();
        assert_eq!(answer.header("connection"), Some("keep-alive"));
        assert!(answer.body.starts_with(b"GET /a HTTP/1.0 "));
    }
    client.send("GET /a HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.rest(), b"");
}

#[test]
fn on_http2_all_of_that_is_the_same_and_cookies_are_one_line() {
    let front = mirror();
    http2::run(async {
        let mut sender = http2::spoken(http2::tcp(&front).await, 100_000).await;
        for (method, target) in [("PROPFIND", "/a;b/%2f//../c?d?e"), ("M-SEARCH", "/"), ("OPTIONS", "*")] {
            let url = if target == "*" { "*".to_owned() } else { format!("http://B.example:80{target}") };
            let mut request = http::Request::builder().method(method).uri(url).body(()).unwrap();
            let headers = request.headers_mut();
            if target == "*" {
                headers.insert("host", HeaderValue::from_static("B.example:80"));
            }
            headers.append("cookie", HeaderValue::from_static("a=1"));
            headers.append("cookie", HeaderValue::from_static("b=2"));
            headers.insert("x-bytes", HeaderValue::from_bytes(b"\xe9").unwrap());
            let mut body = sender.send_request(request, true).unwrap().0.await.unwrap().into_body();
            let told: String = body.data().await.unwrap().unwrap().iter().map(|byte| char::from(*byte)).collect();
            assert!(told.starts_with(&format!("{method} {target} HTTP/2.0 Some(\"B.example:80\")\n")), "{told}");
            for line in ["\nhost: B.example:80\n", "\ncookie: a=1; b=2\n", "\nx-bytes: \u{e9}\n"] {
                assert!(told.contains(line), "{told}");
            }
        }
    });
}
