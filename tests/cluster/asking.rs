//! Three nodes: a question to one of them is answered from the requests and findings of all, and names the nodes that are silent.

use super::{VARIABLES, settings_of};
use crate::tail;
use crate::world::{Answer, FIRST, Person, Postgres, World, await_true, each, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A finding of one node alone, which has a setting without effect.
const FINDING: &str = "contradictory-settings@setting:telemetry.access_log_file";
/// All nodes.
const ALL: &[&str] = &["a", "b", "c"];
/// The requests of nodes to nodes: a person has a token.
const OF_NODES: &str = "kind = request and token = ''";
/// The requests of these tests, which are all 404.
const MISSED: &str = "status = 404 and path starts_with '/repository/gems-private/info/asked-'";

struct Three([World; 3]);

impl Three {
    fn start(postgres: &Postgres) -> Self {
        let start = |name: &str| {
            let further = if name == "b" { "\n[telemetry]\naccess_log_file = \"unused.log\"\n" } else { "" };
            World::start_with_file_and(&(settings_of(postgres, name) + further), VARIABLES)
        };
        let three = Self(["a", "b", "c"].map(start));
        three.await_all();
        three
    }

    /// Waits until each node knows that all of them serve.
    fn await_all(&self) {
        for node in &self.0 {
            await_true("all nodes serve", || {
                let cluster = node.admin().get("/api/v1/cluster").expect(200).json();
                let nodes = cluster["nodes"].as_array().unwrap();
                nodes.len() == 3 && nodes.iter().all(|node| node["state"] == "serving")
            });
        }
    }

    fn signal(&self, node: usize, signal: Signal) {
        kill_process(Pid::from_raw(self.0[node].id()).unwrap(), signal).unwrap();
    }
}

/// A request for a gem that there is not.
fn miss(node: &World, name: &str) -> Answer {
    node.anon().get(&format!("/repository/{FIRST}/info/asked-{name}")).expect(404)
}

/// One answer, which may lack nodes and events while the machine is busy.
fn asked_once(person: &Person, question: &str) -> Value {
    person.post_json("/api/v1/ask", &json!(question)).expect(200).json()
}

/// The whole answer of these nodes.
fn asked(person: &Person, question: &str, of: &[&str]) -> Value {
    eventually(|| {
        let answer = asked_once(person, &format!("{question} wait 30s"));
        if answer["complete"] == 1.0 && nodes(&answer)[0] == of { Ok(answer) } else { Err(answer.to_string()) }
    })
}

/// The whole answer of this node alone.
fn asked_here(person: &Person, question: &str) -> Value {
    eventually(|| {
        let question = json!(format!("{question} wait 30s"));
        let answer = person.post_json("/api/v1/ask?nodes=here", &question).expect(200).json();
        if answer["complete"] == 1.0 { Ok(answer) } else { Err(answer.to_string()) }
    })
}

/// A count, once it is the same twice: an event may be kept only after its answer has arrived, and a question is about moments before it.
fn settled(count: impl Fn() -> u64) -> u64 {
    let mut before = count();
    eventually(|| match count() {
        now if now == before => Ok(now),
        now => Err(format!("{now}, before that {}", std::mem::replace(&mut before, now))),
    })
}

/// How many events of these a node has.
fn count_here(node: &World, filter: &str) -> u64 {
    asked_here(&node.admin(), &format!("count where {filter}"))["rows"][0]["count"].as_u64().unwrap()
}

/// The names of the nodes that answered, and of the others.
fn nodes(answer: &Value) -> [Vec<&str>; 2] {
    let nodes = answer["nodes"].as_array().unwrap();
    [true, false].map(|answered| {
        let some = nodes.iter().filter(|node| node["answered"] == answered);
        let mut names: Vec<&str> = some.map(|node| node["node"].as_str().unwrap()).collect();
        names.sort_unstable();
        names
    })
}

/// The findings, once all of these nodes have answered.
fn findings(person: &Person, of: &[&str]) -> Value {
    eventually(|| {
        let answer = person.get("/api/v1/findings").expect(200).json();
        if nodes(&answer)[0] == of { Ok(answer) } else { Err(answer.to_string()) }
    })
}

#[test]
fn any_node_answers_for_all() {
    let postgres = Postgres::start();
    let mut three = Three::start(&postgres);
    each!(
        &mut three,
        [
            figures_are_those_of_all_events,
            a_comparison_is_of_the_node_that_is_asked_and_says_so,
            a_question_is_asked_once_of_each_node,
            an_event_is_found_whichever_node_has_it,
            a_finding_names_its_nodes,
            // Before nodes listen to each other: such a request ends some time after the listener has left.
            a_caller_who_may_not_observe_gets_nothing_and_no_node_is_asked,
            live_events_name_their_node,
            a_node_that_does_not_answer_is_named_and_the_others_answer,
        ]
    );
}

fn figures_are_those_of_all_events(three: &mut Three) {
    let names = ["x", "long-name", "a-much-longer-name-of-a-gem"];
    for (number, node) in three.0.iter().enumerate() {
        names[..=number].iter().for_each(|name| drop(miss(node, name)));
        // A question is about moments before it, and a request may end in the millisecond in which it begins.
        await_true("the requests are before the question", || count_here(node, MISSED) == number as u64 + 1);
    }
    let question = format!("count, sum(bytes_out), max(bytes_out) by path where {MISSED} order -count");
    let alone: Vec<Value> = three.0.iter().map(|node| asked_here(&node.admin(), &question)).collect();
    let mut sizes: Vec<u64> = Vec::new();
    for row in alone.iter().flat_map(|answer| answer["rows"].as_array().unwrap()) {
        sizes.push(row["max(bytes_out)"].as_u64().unwrap());
    }
    sizes.sort_unstable();
    assert_eq!(sizes.len(), 6);
    for node in &three.0 {
        let by_path = asked(&node.admin(), &question, ALL);
        let counts: Vec<u64> =
            by_path["rows"].as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).collect();
        assert_eq!(counts, [3, 2, 1], "{by_path}");
        assert_eq!(by_path["exact"], true, "{by_path}");
        let first = asked(&node.admin(), &question.replace("order", "top 1 order"), ALL);
        assert_eq!(first["rows"], json!([by_path["rows"][0]]), "the limit comes after the merge");
        let all = "count, sum(bytes_out), p50(bytes_out), p90(bytes_out), distinct(path), share(path contains name)";
        let row = &asked(&node.admin(), &format!("{all} where {MISSED}"), ALL)["rows"][0];
        assert_eq!((&row["count"], &row["sum(bytes_out)"]), (&json!(6), &json!(sizes.iter().sum::<u64>())));
        assert_eq!((&row["p50(bytes_out)"], &row["p90(bytes_out)"]), (&json!(sizes[2]), &json!(sizes[5])), "{row}");
        assert_eq!((&row["distinct(path)"], &row["share(path contains name)"]), (&json!(3), &json!(0.5)), "{row}");
    }
}

fn a_comparison_is_of_the_node_that_is_asked_and_says_so(three: &mut Three) {
    let node = &three.0[0];
    for _ in 0..40 {
        node.anon().get(&format!("/repository/{FIRST}/info/other")).expect(404);
        node.anon().get(&format!("/repository/{FIRST}/versions")).expect(200);
    }
    let compared = asked(&node.admin(), "where path ends_with '/info/other' compare rest from -1h", &["a"]);
    assert_eq!(nodes(&compared), [vec!["a"], vec!["b", "c"]]);
    let why = compared["nodes"][1]["error"].as_str().unwrap();
    assert!(why.contains("a comparison is made from the events of one node"), "{why}");
}

fn a_question_is_asked_once_of_each_node(three: &mut Three) {
    // No other question is as long, and a node that need not wait is asked in one turn.
    let question = format!("count where path = {} wait 0ms", "x".repeat(4_000));
    let mut times = 0;
    await_true("all nodes answer", || {
        times += 1;
        nodes(&asked_once(&three.0[0].admin(), &question))[0] == ALL
    });
    let at_b = || count_here(&three.0[1], &format!("{OF_NODES} and file = ask and bytes_in > 4000"));
    await_true("node b was asked", || at_b() > 0);
    let count = settled(at_b);
    assert!(count <= times, "{count} of {times}");
}

fn an_event_is_found_whichever_node_has_it(three: &mut Three) {
    let missed = miss(&three.0[0], "event");
    let id = missed.header("daylight-event").unwrap();
    for node in &three.0 {
        let event = node.event(id);
        assert_eq!((&event["id"], &event["node"], &event["status"]), (&json!(id), &json!("a"), &json!(404)));
        // A node that did not answer in time is asked again.
        await_true("there is a page", || {
            let page = node.admin().get(&format!("/events/{id}"));
            page.status == 200 && page.text().contains(id)
        });
        eventually(|| match node.says(&format!("explain --event {id}")) {
            (said, Some(0)) if said.contains("\nnode     a\n") => Ok(()),
            (said, code) => Err(format!("{code:?}: {said}")),
        });
    }
    three.0[2].admin().get(&format!("/api/v1/events/{id}?nodes=here")).expect(404);
    let unknown = three.0[2].admin().get("/api/v1/events/00000000000000ff").expect(404);
    assert!(unknown.text().contains("none of the nodes has the event `00000000000000ff`"), "{unknown:?}");
}

fn a_finding_names_its_nodes(three: &mut Three) {
    let found = |answer: &Value| {
        let mut findings = answer["findings"].as_array().unwrap().clone();
        findings.retain(|finding| finding["id"] == FINDING);
        findings
    };
    await_true("node b has looked", || {
        let here = three.0[1].admin().get("/api/v1/findings?nodes=here").expect(200).json();
        found(&here).len() == 1
    });
    for node in &three.0 {
        let answer = findings(&node.admin(), ALL);
        assert_eq!(found(&answer).len(), 1, "{answer}");
        assert_eq!(found(&answer)[0]["nodes"], json!(["b"]));
        eventually(|| {
            let (said, _) = node.says("findings");
            let lines = said.split_once(FINDING).map(|(_, lines)| lines).unwrap_or_default();
            if lines.contains("\n  node      b\n") { Ok(()) } else { Err(said) }
        });
    }
    let here = three.0[0].admin().get("/api/v1/findings?nodes=here").expect(200).json();
    assert!(found(&here).is_empty() && here.get("nodes").is_none(), "{here}");
}

fn live_events_name_their_node(three: &mut Three) {
    let (_, mut stream) = tail::listen(&three.0[0].admin(), "status = 404");
    for (number, name) in [(1, "b"), (0, "a"), (2, "c")] {
        // The others are asked after the listener has come, so the first requests there may be too early.
        let event = loop {
            miss(&three.0[number], "live-there");
            miss(&three.0[0], "live-here");
            let (kind, event) = stream.message().unwrap();
            // Events of the tests before may still come.
            let is_live = event["path"].as_str().is_some_and(|path| path.contains("asked-live-"));
            if kind.is_empty() && event["node"] == name && is_live {
                break event;
            }
        };
        assert_eq!(event["status"], 404, "{event}");
    }
}

fn a_caller_who_may_not_observe_gets_nothing_and_no_node_is_asked(three: &mut Three) {
    let reader = three.0[0].person("reader", &["read"], &[]);
    let kinds = "(file = ask or file = listFindings or file = tail or file = showEvent)";
    let at_b = || count_here(&three.0[1], &format!("{OF_NODES} and {kinds}"));
    let before = settled(at_b);
    assert!(before > 0, "node b was asked before");
    for path in ["/api/v1/findings", "/api/v1/tail", "/api/v1/events/00000000000000ff", "/events/00000000000000ff"] {
        reader.get(path).expect(403);
    }
    reader.post_json("/api/v1/ask", &json!("count")).expect(403);
    assert_eq!(settled(at_b), before);
    // A header of nodes without the proof gives no right.
    let forged = [("Daylight-Node", "b 99999999 AAAA")];
    three.0[0].anon().ask("GET", "/api/v1/findings", &forged, b"").expect(401);
    three.0[0].anon().ask("POST", "/api/v1/ask", &forged, b"\"count\"").expect(401);
}

fn a_node_that_does_not_answer_is_named_and_the_others_answer(three: &mut Three) {
    let (question, others) = (format!("count where {MISSED}"), &["a", "b"]);
    let all = |three: &Three| asked(&three.0[0].admin(), &question, ALL)["rows"][0]["count"].as_u64().unwrap();
    let whole = settled(|| all(three));
    let of_c = count_here(&three.0[2], MISSED);
    three.signal(2, Signal::STOP);
    let part = asked(&three.0[0].admin(), &question, others);
    assert_eq!(part["rows"][0]["count"], whole - of_c, "{part}");
    assert_eq!(nodes(&part), [vec!["a", "b"], vec!["c"]]);
    let (said, code) = three.0[0].says("ask count");
    assert!(said.contains("\nnote: node `c` did not answer: ") && said.contains("requests are missing\n"), "{said}");
    assert_eq!(code, Some(0));
    assert_eq!(nodes(&findings(&three.0[0].admin(), others)), [vec!["a", "b"], vec!["c"]]);
    let unknown = three.0[0].admin().get("/api/v1/events/00000000000000ff").expect(404);
    assert!(unknown.text().contains("node `c` did not answer: "), "{unknown:?}");
    three.signal(2, Signal::CONT);
    assert_eq!(all(three), whole, "node c answers again");
    let (_, mut stream) = tail::listen(&three.0[0].admin(), "status = 404");
    three.0[2].stop();
    let why = loop {
        let (kind, data) = stream.message().unwrap();
        // Another node may have taken too long.
        if kind == "node" && data["node"] == "c" {
            break data;
        }
    };
    assert!(why["error"].is_string(), "{why}");
    await_true("it is not asked any more", || {
        let error = asked_once(&three.0[0].admin(), &question)["nodes"][2]["error"].clone();
        error == "it has stopped, or gives no sign of life"
    });
}

#[test]
fn a_node_whose_address_leads_to_another_one_is_named_with_that_address() {
    let postgres = Postgres::start();
    let one = World::start_with_file_and(&settings_of(&postgres, "a"), VARIABLES);
    let further = format!("address = \"http://{}\"\n", one.address());
    let _other = World::start_with_file_and(&(settings_of(&postgres, "b") + &further), VARIABLES);
    await_true("both serve", || {
        let cluster = one.admin().get("/api/v1/cluster").expect(200).json();
        cluster["nodes"].as_array().unwrap().iter().filter(|node| node["state"] == "serving").count() == 2
    });
    let why = format!("`http://{}` refuses the call (401)", one.address());
    let tells = |said: &str| said.contains(&why) && said.contains("hint: check `cluster.address` of node `b`");
    for line in ["ask count", "findings", "explain --event 00000000000000ff"] {
        let (said, _) = one.says(line);
        assert!(tells(&said) && said.contains("node `b` did not answer: ") && !said.contains('{'), "{line}: {said}");
    }
    let (_, mut stream) = tail::listen(&one.admin(), "status = 404");
    let told = loop {
        match stream.message().unwrap() {
            (kind, data) if kind == "node" => break data,
            _ => {}
        }
    };
    assert!(told["node"] == "b" && tells(told["error"].as_str().unwrap()), "{told}");
}
