//! Nodes of a cluster that did not answer a question: their part of the answer is missing.

use super::failure::plain;
use serde::Deserialize;

/// A node that was to answer. Servers without other nodes name none.
#[derive(Debug, Deserialize)]
pub(super) struct AskedNode {
    node: String,
    answered: bool,
    error: Option<String>,
}

/// A line for each node that did not answer. `missing`: its part of the answer.
pub(super) fn lines(nodes: &[AskedNode], missing: &str) -> Vec<String> {
    let silent = nodes.iter().filter(|node| !node.answered);
    let line = |AskedNode { node, error, .. }: &AskedNode| {
        let why = error.as_deref().unwrap_or("it is not known why");
        plain(&format!("node `{node}` did not answer: {why}, so its {missing} are missing"))
    };
    silent.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_did_not_answer_is_named_with_the_reason() {
        let nodes = r#"[{"node":"a","answered":true},{"node":"b","answered":false,"error":"it does not run"}]"#;
        let told = lines(&serde_json::from_str::<Vec<AskedNode>>(nodes).unwrap(), "requests");
        assert_eq!(told, ["node `b` did not answer: it does not run, so its requests are missing"]);
    }
}
