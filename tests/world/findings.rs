//! Findings, as programs see them.

use super::World;
use serde_json::Value;

impl World {
    /// The pending and open findings, the most expensive first. After [`World::set_time`] they are those of the new moment.
    pub(crate) fn findings(&self) -> Vec<Value> {
        let answer = self.admin().get("/api/v1/findings").expect(200).json();
        answer["findings"].as_array().unwrap().clone()
    }

    /// The ids of the open findings, the most expensive first.
    pub(crate) fn open_findings(&self) -> Vec<String> {
        let open = |finding: &&Value| finding["state"] == "open";
        self.findings().iter().filter(open).map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
    }
}
