//! `/events/ID`: one event, and where its time went. The value is that of the API.

use super::{observer, shell};
use crate::app::App;
use crate::error::Result;
use crate::lookup::event::find;
use crate::lookup::explain::below_repository;
use crate::nodes::Others;
use front::{Reply, Request};
use serde_json::{Map, Value};
use telemetry::{Event, Op, Reason};
use web::{EventPage, EventView, MemberAnswer, MemberBar, OpBar};

/// The texts of an event that are listed, with their names for people.
const FACTS: &[(&str, &str)] = &[
    ("at", "At"),
    ("repository", "Repository"),
    ("package", "Package"),
    ("version", "Version"),
    ("file", "Kind of file"),
    ("layer", "Answered by"),
    ("class", "Cost class"),
    ("client", "Client"),
    ("agent", "Agent"),
    ("token", "Token"),
    ("detail", "Detail"),
    ("kept_because", "Stored because"),
    ("node", "Node"),
];

/// The page.
pub(super) async fn page(app: &App, id: &str, request: &Request, event: &mut Event) -> Result<Reply> {
    observer::only(app, request, event).await?;
    let others = Others::of(app, request)?;
    let found = find(app, id, others.as_ref(), event).await?;
    let view = view(&found);
    let shell = shell::of(app, format!("{}: event", view.heading), request, event).await?;
    shell::page(&EventPage { shell: &shell, event: &view }, event).await
}

fn view(event: &Value) -> EventView {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let (path, duration_ms) = (text("path"), event["duration_ms"].as_f64().unwrap_or_default());
    let reason = text("reason");
    let why = Reason::ALL.iter().find(|one| one.as_str() == reason).map(|one| ("Reason", one.doc().to_owned()));
    let facts = FACTS.iter().map(|(key, name)| (*name, text(key)));
    let status = event["status"].as_u64().filter(|status| *status > 0).map(|status| format!("{status} "));
    let explained = below_repository(&path).filter(|_| text("method") == "GET");
    let (line, inside) = ops(&event["ops"], duration_ms).into_iter().partition(|(_, inside)| !inside);
    let bars = |ops: Vec<(OpBar, bool)>| ops.into_iter().map(|(op, _)| op).collect::<Vec<_>>();
    let mut inside = bars(inside);
    inside.extend(bars(ops(&event["beside"], duration_ms)));
    let mut line = bars(line);
    if let Some(ms) = event["unaccounted_ms"].as_f64().filter(|ms| *ms > 0.0) {
        let about = "Time in which no operation ran".to_owned();
        let (name, percent) = ("unaccounted".to_owned(), percent(ms, duration_ms));
        line.push(OpBar { name, about, count: 1, ms, percent });
    }
    line.sort_by(|one, other| other.ms.total_cmp(&one.ms));
    EventView {
        id: text("id"),
        heading: format!("{} {path}", text("method")).trim_end().to_owned(),
        answer: format!("{}{}", status.unwrap_or_default(), text("outcome").replace('_', " ")),
        facts: why.into_iter().chain(facts).filter(|(_, text)| !text.is_empty()).collect(),
        duration_ms,
        line,
        inside,
        members: members(event, duration_ms),
        explained: explained.map(|(name, path)| (name.to_owned(), path.to_owned())),
        json: format!("{event:#}"),
    }
}

/// The operations, the longest first, and whether each is inside another one.
fn ops(ops: &Value, duration_ms: f64) -> Vec<(OpBar, bool)> {
    let none = Map::new();
    let bar = |(name, cost): (&String, &Value)| {
        let ms = cost["ms"].as_f64().unwrap_or_default();
        let about = Op::ALL.iter().find(|op| op.as_str() == name).map(|op| op.doc()).unwrap_or_default().to_owned();
        let (count, percent) = (cost["count"].as_u64().unwrap_or_default(), percent(ms, duration_ms));
        (OpBar { name: name.clone(), about, count, ms, percent }, cost["inside"] == true)
    };
    let mut bars: Vec<_> = ops.as_object().unwrap_or(&none).iter().map(bar).collect();
    bars.sort_by(|(one, _), (other, _)| other.ms.total_cmp(&one.ms));
    bars
}

fn members(event: &Value, duration_ms: f64) -> Vec<MemberBar> {
    let bar = |member: &Value| {
        let text = |key: &str| member[key].as_str().unwrap_or_default().to_owned();
        let ms = member["ms"].as_f64().unwrap_or_default();
        let host = member["upstream"]["host"].as_str().map(|host| format!("upstream {host}"));
        let detail = [Some(text("detail")).filter(|text| !text.is_empty()), host];
        MemberBar {
            name: text("member"),
            said: MemberAnswer { said: text("said"), ..MemberAnswer::default() }.said_in_words().to_owned(),
            ms,
            percent: percent(ms, duration_ms),
            longest: ops(&member["ops"], duration_ms).into_iter().next().map(|(op, _)| op.name).unwrap_or_default(),
            detail: detail.into_iter().flatten().collect::<Vec<_>>().join("; "),
        }
    };
    event["members"].as_array().map(|members| members.iter().map(bar).collect()).unwrap_or_default()
}

/// The part of the whole, 0 to 100.
fn percent(part: f64, whole: f64) -> u32 {
    if whole > 0.0 { (part / whole * 100.0).round().clamp(0.0, 100.0) as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_longest_operation_of_an_event_is_the_first_and_has_its_part_of_the_duration() {
        let event = json!({
            "id": "0123456789abcdef", "method": "GET", "path": "/repository/maven/a/b.pom", "status": 200,
            "outcome": "answered", "duration_ms": 200.0, "unaccounted_ms": 2.0,
            "ops": { "route.read": { "count": 1, "ms": 1.0 }, "members.ask": { "count": 1, "ms": 197.0 },
                     "body.read": { "count": 2, "ms": 9.0, "inside": true } },
            "members": [{ "member": "slow", "said": "not_found", "ms": 190.0,
                          "ops": { "flight.wait": { "count": 1, "ms": 189.0 } }, "upstream": { "host": "a:1" } }],
        });
        let view = view(&event);
        let line: Vec<_> = view.line.iter().map(|op| (&*op.name, op.percent)).collect();
        assert_eq!(line, [("members.ask", 99), ("unaccounted", 1), ("route.read", 1)]);
        assert_eq!((view.inside.len(), &*view.heading), (1, "GET /repository/maven/a/b.pom"));
        assert_eq!((&*view.members[0].longest, &*view.members[0].detail), ("flight.wait", "upstream a:1"));
        assert_eq!(view.explained, Some(("maven".to_owned(), "a/b.pom".to_owned())));
    }
}
