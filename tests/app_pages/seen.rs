//! What people see of pages that an application wrote: events, questions, metrics, the API, and the page of the front in a browser.

use super::shop::{BROWSER, Shop, await_outcome, from_page};
use crate::world::{browser, eventually};
use serde_json::{Value, json};

/// The operations of an event and the time without one, in milliseconds; and its duration.
fn sums(event: &Value) -> (f64, f64) {
    let ops = event["ops"].as_object().unwrap().values();
    let ops: f64 = ops.filter(|op| op["inside"] != true).map(|op| op["ms"].as_f64().unwrap()).sum();
    (ops + event["unaccounted_ms"].as_f64().unwrap(), event["duration_ms"].as_f64().unwrap())
}

#[test]
fn an_event_has_what_became_of_the_page_and_its_times_add_up() {
    let shop = Shop::response_bank("");
    let written = shop.written("/shoes");
    let sent = from_page(shop.get("/shoes").expect(200), "page");
    let (miss, hit) = (shop.front.event(&written), shop.front.event(&sent));
    assert_eq!((&miss["layer"], &miss["app"]["page"]), (&json!("app"), &json!("miss")), "{miss}");
    assert_eq!((&hit["layer"], &hit["app"]["page"]), (&json!("app_pages"), &json!("hit")), "{hit}");
    for event in [&miss, &hit] {
        assert!(event["ops"]["app_pages.read"]["count"].as_u64() >= Some(1), "{event}");
        let (sum, duration) = sums(event);
        assert!((sum - duration).abs() < 0.01, "{sum} ms of {duration} ms: {event}");
    }
    let id = sent.header("daylight-event").unwrap();
    let told = shop.front.command(&["explain", "--event", id]);
    let told = String::from_utf8_lossy(&told.stdout);
    for line in ["answer   200 answered, by: app_pages", "page     hit: The page was sent"] {
        assert!(told.contains(line), "no {line}: {told}");
    }
}

#[test]
fn questions_metrics_and_the_api_count_each_outcome() {
    let shop = Shop::response_bank("");
    shop.written("/shoes");
    from_page(shop.get("/shoes").expect(200), "page");
    shop.get_with("/shoes", &[("Cache-Control", "no-cache")]).expect(200);
    let (key, _) = shop.key("/odd");
    shop.memcached.set(&key, 0, b"nothing of the kind");
    // The application fails by it, as response_bank does.
    shop.get("/odd").expect(500);
    for outcome in ["hit", "miss", "unknown"] {
        await_outcome(&shop.front, outcome, 1);
    }
    let apps = shop.front.admin().get("/api/v1/apps").expect(200).json();
    let pages = &apps["apps"][0]["pages"];
    assert_eq!(
        (&pages["format"], pages["requests"].as_object().unwrap().len()),
        (&json!("response_bank"), 3),
        "{apps}"
    );
    assert!(pages["bytes"].as_u64() > Some(0) && pages["max_bytes"].as_u64() > pages["bytes"].as_u64(), "{pages}");
    let [server] = &pages["servers"].as_array().unwrap()[..] else { panic!("{pages}") };
    assert_eq!(
        (&server["url"], &server["up"], &server["busy"]),
        (&json!(shop.memcached.url()), &json!(true), &json!(0))
    );
    assert!(server["connections"].as_u64() >= Some(1) && server["trouble"].is_null(), "{server}");
    let metrics = shop.front.admin().get("/metrics").expect(200);
    for line in [
        "daylight_app_pages_total{app=\"shop\",outcome=\"hit\"} 1",
        "daylight_app_pages_total{app=\"shop\",outcome=\"miss\"} 1",
        "daylight_app_pages_total{app=\"shop\",outcome=\"unknown\"} 1",
        "daylight_app_page_server_up{which=\"shop/1\"} 1",
        "daylight_bound_used{bound=\"app.page_reads\",which=\"shop/1\"} 0",
    ] {
        assert!(metrics.text().lines().any(|told| told == line), "no {line}");
    }
    let ask = ["ask", "count, sum(app_pages_ms) by app_page, layer where repository = shop", "--json"];
    eventually(|| {
        let told = shop.front.command(&ask);
        let told: Value = serde_json::from_slice(&told.stdout).map_err(|error| error.to_string())?;
        let rows = told["rows"].as_array().cloned().unwrap_or_default();
        let found = |page: &str, layer: &str| {
            rows.iter().any(|row| row["app_page"] == page && row["layer"] == layer && row["count"] == 1)
        };
        // A reload is none for a page.
        let all = found("hit", "app_pages") && found("miss", "app") && found("unknown", "app") && found("", "app");
        if all { Ok(()) } else { Err(told.to_string()) }
    });
}

#[test]
fn the_page_of_the_front_tells_why_pages_were_not_sent_and_which_server_is_down() {
    let mut shop = Shop::response_bank("timeout_ms = 1000");
    shop.written("/shoes");
    from_page(shop.get("/shoes").expect(200), "page");
    shop.memcached.kill();
    shop.get("/shoes").expect(200);
    eventually(|| {
        let apps = shop.front.admin().get("/api/v1/apps").expect(200).json();
        let pages = &apps["apps"][0]["pages"];
        let down = pages["servers"][0]["up"] == false && pages["servers"][0]["trouble"].is_string();
        if down && pages["requests"]["unreachable"] == 1 { Ok(()) } else { Err(pages.to_string()) }
    });
    let admin = format!("http://{}", shop.front.admin_address());
    let text = shop.front.admin().ask("GET", "/", &[("Accept", "text/plain")], b"").expect(200);
    let html = shop.front.admin().ask("GET", "/", &[("Accept", "text/html")], b"").expect(200);
    for (page, share) in
        [(text.text(), "1 hit: The page was sent"), (html.text(), "33.3 % of 3 requests were answered with a page")]
    {
        for part in [share, "The server cannot be reached", &*shop.memcached.url(), "down"] {
            assert!(page.contains(part), "no {part}: {page}");
        }
    }
    assert!(html.text().contains("<td data-label=\"Answered by\">the application</td>"));
    let found = browser("appearance.js", json!({ "base": admin, "pages": [{ "path": "/" }] }));
    assert_eq!(found, json!({ "looks": 6, "wrong": [] }), "three appearances at two widths");
}

#[test]
fn a_request_that_no_page_may_answer_has_no_outcome() {
    let shop = Shop::response_bank("bypass_cookies = \"signed_in\"");
    shop.written("/shoes");
    let told = [
        shop.get_with("/shoes", &[("Cookie", "a=1; signed_in=yes")]),
        shop.get_with("/shoes", &[("Authorization", "Basic eDp5")]),
        shop.front.ask("POST", "/shoes", &[("Host", "shop.example"), ("Accept-Encoding", BROWSER)], b"a=b"),
    ];
    for answer in told {
        let event = shop.front.event(&answer);
        assert_eq!((&event["layer"], &event["app"]["page"]), (&json!("app"), &Value::Null), "{event}");
    }
    await_outcome(&shop.front, "miss", 1);
}
