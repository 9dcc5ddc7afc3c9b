//! Reads the changes of one history from rows of the journal in the database.

use super::judge::Row;
use super::record::Wanted;
use serde_json::Value;
use std::collections::BTreeMap;

/// The rows `NUMBER|BODY`, with the changes of these repositories in them: that of gems, and others.
pub(super) fn rows(text: &str, gems: &str, others: &[String]) -> Vec<Row> {
    let mut names: BTreeMap<u64, String> = BTreeMap::new();
    let mut read = |line: &str| {
        let (seq, body) = line.split_once('|').unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        let change = match body["change"].as_str() {
            Some("repository") => {
                let name = body["record"]["name"].as_str().unwrap().to_owned();
                names.insert(body["id"].as_u64().unwrap(), name.clone());
                let set = body["record"]["keep_versions"].as_u64().filter(|_| name == gems);
                set.map(|number| (Wanted::Setting, Some(number.to_string())))
            }
            Some("entry") => {
                let name = body["repository"].as_u64().and_then(|id| names.get(&id));
                name.and_then(|name| entry(name, &body["entry"], gems, others))
            }
            _ => None,
        };
        Row { seq: seq.parse().unwrap(), change: change.map(|(wanted, value)| (wanted.key(), value)) }
    };
    text.lines().map(&mut read).collect()
}

/// The change of a package. Its value is the digest of its file.
fn entry(repository: &str, entry: &Value, gems: &str, others: &[String]) -> Option<(Wanted, Option<String>)> {
    let [unit, key] = ["unit", "key"].map(|field| entry[field].as_str().unwrap().to_owned());
    let sum = entry["hashes"]["sha256"].as_str().unwrap().to_owned();
    let value = (entry["state"] == "live").then_some(sum);
    if repository == gems {
        let version = key[unit.len() + 1..].to_owned();
        return Some((Wanted::Gem { name: unit, version }, value));
    }
    others.iter().any(|other| other == repository).then(|| {
        let repository = repository.to_owned();
        (Wanted::File { repository, path: key }, value)
    })
}
