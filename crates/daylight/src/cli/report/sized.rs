//! Whether the server has what today's traffic needs: pools, caches and machines that are too small or too large.

use super::asked::Asker;
use super::cells;
use crate::cli::failure::{self, Failure};
use format::percent::segment;
use serde_json::Value;
use web::ReportBlock;

/// The most sentences.
const SENTENCES_MAX: usize = 12;

/// The pools, caches and machines that are too small or too large. Nothing, if the server is of a version that does not know.
pub(super) fn blocks(asker: &Asker<'_>) -> Vec<ReportBlock> {
    let query = format!("from={}&to={}", segment(asker.from()), segment(asker.to()));
    match asker.api.get(&format!("/api/v1/sizing?{query}")) {
        Ok(sizing) => told(&sizing),
        Err(error) if error.downcast_ref::<Failure>().and_then(Failure::status) == Some(404) => Vec::new(),
        Err(error) => {
            let (why, _) = failure::told(&error);
            vec![ReportBlock::Missing(format!(
                "Not shown: pools, caches and machines that are too small or too large. {}",
                cells::foreign(&why)
            ))]
        }
    }
}

fn told(sizing: &Value) -> Vec<ReportBlock> {
    let sentence = |of: &Value| of["sentence"].as_str().filter(|text| !text.is_empty()).map(cells::sentence);
    let advice = sizing["advice"].as_array().into_iter().flatten().filter_map(sentence).take(SENTENCES_MAX);
    let sentences: Vec<String> = sentence(sizing).into_iter().chain(advice).collect();
    if sentences.is_empty() {
        return Vec::new();
    }
    let heading = ReportBlock::Heading("Needed: pools, caches and machines for this traffic".to_owned());
    [heading].into_iter().chain(sentences.into_iter().map(ReportBlock::Text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_sentences_of_the_advice_are_told_and_nothing_without_any() {
        let sizing = json!({ "sentence": "Half of it would do.", "advice": [{ "sentence": "`server.workers` = 2 would do" }, { "to": 3 }] });
        let told = format!("{:?}", told(&sizing));
        assert!(told.contains("Half of it would do.") && told.contains("`server.workers` = 2 would do"), "{told}");
        assert!(super::told(&json!({})).is_empty());
    }
}
