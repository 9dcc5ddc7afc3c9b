//! Sums of spans and of metrics equal what questions tell, read by a decoder of the published protocol.

use super::receiver::{Does, Receiver};
use super::told::Told;
use super::{requests, settings, world};
use crate::world::{FIRST, Gem, World};
use serde_json::json;
use std::collections::BTreeMap;

/// Requests for repositories and the bytes that they sent, by repository and status, as the server tells.
type Sums = BTreeMap<(String, u64), (u64, u64)>;

/// The answer of the server to the same question.
pub(super) fn asked(world: &World, where_: &str) -> Sums {
    let question = json!(format!("count, sum(bytes_out) by repository, status {where_} from -1d"));
    let answer = world.admin().post_json("/api/v1/ask", &question).expect(200).json();
    let rows = answer["rows"].as_array().unwrap().iter().map(|row| {
        let key = (row["repository"].as_str().unwrap().to_owned(), row["status"].as_u64().unwrap());
        (key, (row["count"].as_u64().unwrap(), row["sum(bytes_out)"].as_f64().unwrap() as u64))
    });
    rows.collect()
}

/// The question about all requests for repositories.
pub(super) const ALL: &str = "where kind = request and repository != ''";

/// What differs between the server and what was told, of spans and of metrics.
pub(super) fn differs(told: &Told, asked: &Sums) -> Result<(), String> {
    let spans = told.by_repository_and_status();
    if spans != *asked {
        return Err(format!("spans {spans:?}, asked {asked:?}"));
    }
    for repository in asked.keys().map(|(repository, _)| repository) {
        let of = asked.iter().filter(|((name, _), _)| name == repository).map(|(_, sums)| *sums);
        let (count, bytes) = of.fold((0, 0), |(count, bytes), (more, sent)| (count + more, bytes + sent));
        for (metric, wanted) in [("daylight.repository_requests", count), ("daylight.repository_sent_bytes", bytes)] {
            let sum = told.sum(metric, "daylight.repository", repository);
            if sum != wanted as f64 {
                return Err(format!("{metric} of {repository}: {sum}, asked {wanted}"));
            }
        }
    }
    // The questions of the test have 200, and count under the same route.
    for status in asked.keys().map(|(_, status)| *status).filter(|status| *status != 200) {
        let wanted: u64 = asked.iter().filter(|((_, of), _)| *of == status).map(|(_, (count, _))| count).sum();
        let series = told.metrics.get("http.server.request.duration").into_iter().flatten();
        let has =
            |labels: &[(String, String)], key: &str, value: &str| labels.iter().any(|(k, v)| k == key && v == value);
        let of_repositories = series.filter(|(labels, _)| {
            has(labels, "http.response.status_code", &status.to_string())
                && has(labels, "http.route", "/repository/{name}/{path}")
        });
        let sum: f64 = of_repositories.map(|(_, value)| value).sum();
        if sum != wanted as f64 {
            return Err(format!("http.server.request.duration of {status}: {sum}, asked {wanted}"));
        }
    }
    Ok(())
}

#[test]
fn sums_of_spans_and_of_metrics_are_those_of_questions_and_a_stop_sends_the_rest() {
    let receiver = Receiver::start(Does::Takes);
    let mut world = world(&format!("{}/", receiver.url()));
    requests(&world);
    let answers = crate::asking::ask_until(&world, &json!(format!("{ALL} from -1d")), |answer| {
        answer["rows"].as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).sum::<u64>() == 45
    });
    assert!(answers["rows"].is_array());
    let sums = asked(&world, ALL);
    assert_eq!(sums[&("maven-releases".to_owned(), 404)].0, 3, "{sums:?}");
    let told = receiver.told_until(|told| differs(told, &sums));
    assert_eq!(told.resource["service.name"], "daylight");
    assert!(told.resource.contains_key("host.name") && told.resource["service.instance.id"].len() == 32);
    assert!(told.spans.iter().any(|span| span.name == "GET /repository/{name}/{path}"));

    // The id of an event is that of its span.
    let last = world.admin().push(FIRST, &Gem::new("lamp", "1.0.1")).expect(200);
    let event = last.header("daylight-event").unwrap().to_owned();
    world.stop();
    let told = receiver.told();
    let span = told.spans.iter().find(|span| span.span_id == event);
    assert_eq!(span.map(|span| span.attributes["daylight.event"].as_str()), Some(event.as_str()));
    let count: u64 = told.by_repository_and_status().values().map(|(count, _)| count).sum();
    let counted: f64 = sums
        .keys()
        .map(|(name, _)| name)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .map(|name| told.sum("daylight.repository_requests", "daylight.repository", name))
        .sum();
    assert_eq!((count, counted), (46, 46.0));
}

#[test]
fn weights_of_sampled_spans_sum_up_to_what_stored_events_tell() {
    let receiver = Receiver::start(Does::Takes);
    let world = World::start_with_file(&(settings(&receiver.url()) + "stored_per_second = 1\n"));
    requests(&world);
    let path = "/repository/maven-releases/org/example/lamp/1.0/lamp-1.0.jar";
    let get = |count: u32| {
        let mut connection = world.anon().connect().unwrap();
        for _ in 0..count {
            world.anon().on(&mut connection, "GET", path, &[], b"").unwrap().expect(200);
        }
    };
    get(400);
    // Counts by minute do not have paths, so stored events answer.
    let stored = format!("{ALL} and path starts_with /repository/");
    let sums = receiver.told_until(|told| {
        let (spans, asked) = (told.by_repository_and_status(), asked(&world, &stored));
        let all: u64 = asked.values().map(|(count, _)| count).sum();
        // The last requests are told of with the next one that is stored, which hundreds may precede.
        if all <= 300 {
            get(50);
        }
        if spans == asked && all > 300 { Ok(()) } else { Err(format!("spans {spans:?}, asked {asked:?}")) }
    });
    let weighted = sums.spans.iter().filter(|span| span.attributes["daylight.weight"] != "1").count();
    assert!(weighted > 0, "nothing was sampled");
}
