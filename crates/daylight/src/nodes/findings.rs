//! Findings of all nodes.

use super::{NodeAnswered, Others, body};
use insight::Finding;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use telemetry::{Event, Op};

/// The path of findings.
const FINDINGS: &str = "/api/v1/findings";

/// What a node tells another one.
#[derive(Debug, Serialize, Deserialize)]
struct OfNode {
    findings: Vec<Finding>,
}

/// The answer to another node.
pub(crate) fn of_node(findings: Vec<Finding>) -> Value {
    json!(OfNode { findings })
}

/// The findings of all nodes, each with its nodes. `query`: that of the person.
pub(crate) async fn of_all(others: &Others, own: Vec<Finding>, query: &str, event: &mut Event) -> Value {
    let target = if query.is_empty() { FINDINGS.to_owned() } else { format!("{FINDINGS}?{query}") };
    let answers = event.during(Op::NodesWait, Box::pin(others.get(&target))).await;
    let mut all = vec![(others.own().to_owned(), own)];
    let mut nodes = vec![NodeAnswered::of(others.own(), &Ok(()))];
    for (name, answer) in answers {
        let read = body(answer).and_then(|body| {
            serde_json::from_slice::<OfNode>(&body)
                .map_err(|_| "its findings have another form: it runs another version of the program".to_owned())
        });
        nodes.push(NodeAnswered::of(&name, &read));
        all.extend(read.ok().map(|of_node| (name, of_node.findings)));
    }
    let told = |(finding, of): &(Finding, Vec<String>)| {
        let mut told = finding.json();
        told["nodes"] = json!(of);
        told
    };
    let findings: Vec<Value> = Finding::merged(all).iter().map(told).collect();
    json!({ "findings": findings, "nodes": nodes })
}
