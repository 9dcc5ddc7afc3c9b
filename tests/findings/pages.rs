//! Findings on the first page and in explanations, and the pages behind them.

use crate::world::{Answer, Person, World};

const HTML: (&str, &str) = ("Accept", "text/html,application/xhtml+xml;q=0.9");
/// Behind a proxy nobody counts as a user of this machine.
const PROXIED: (&str, &str) = ("Via", "1.1 proxy");

fn page(person: &Person, path: &str, headers: &[(&str, &str)], status: u16) -> Answer {
    person.ask("GET", path, headers, b"").expect(status)
}

#[test]
fn the_first_page_tells_how_many_checks_found_nothing_to_observers_and_the_number_of_findings_to_others() {
    let world = World::start();
    let observer = world.person("observer", &["observe"], &[]);
    for headers in [&[HTML, PROXIED][..], &[PROXIED]] {
        let seen = page(&observer, "/", headers, 200).text().to_owned();
        assert!(seen.contains("Nothing found by "), "{seen}");
        let seen = page(&world.anon(), "/", headers, 200).text().to_owned();
        assert!(seen.contains("No finding is open.") && !seen.contains("Nothing found by "), "{seen}");
    }
}

#[test]
fn the_pages_of_an_event_and_of_a_question_are_for_observers() {
    let world = World::start();
    let asked = world.anon().get("/repository/maven-releases/org/example/lamp/1.0/lamp-1.0.pom").expect(404);
    let event = asked.header("daylight-event").unwrap().to_owned();
    world.event(&event);
    let (observer, reader) = (world.person("observer", &["observe"], &[]), world.person("reader", &["read"], &[]));
    let question = "/ask?q=count+by+status+where+repository+%3D+maven-releases";
    for path in [format!("/events/{event}"), question.to_owned(), "/ask".to_owned()] {
        page(&world.anon(), &path, &[HTML, PROXIED], 401);
        page(&reader, &path, &[HTML, PROXIED], 403);
        page(&observer, &path, &[HTML, PROXIED], 200);
    }
    let shown = page(&observer, &format!("/events/{event}"), &[HTML], 200).text().to_owned();
    assert!(shown.contains("Where the time went") && shown.contains("<code>route.read</code>"), "{shown}");
    assert!(shown.contains("404 not found") && shown.contains("href=\"/explain?repository=maven-releases"), "{shown}");
    let answered = page(&observer, question, &[HTML], 200).text().to_owned();
    assert!(answered.contains("data-label=\"status\">404</td>"), "{answered}");
    let mistaken = page(&observer, "/ask?q=count+by+pakage", &[HTML], 200).text().to_owned();
    assert!(mistaken.contains("there is no column <code>pakage</code>"), "{mistaken}");
    page(&observer, "/events/0123456789abcdef", &[HTML], 404);
    page(&observer, "/events/not-an-id", &[HTML], 400);
}
