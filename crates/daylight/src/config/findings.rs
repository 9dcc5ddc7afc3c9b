//! `[[finding]]` in the configuration file: findings that a team defines with a question and a threshold.

use super::app_table::AppTable;
use super::error::Error;
use insight::{CustomFinding, NotCustom, Threshold};
use std::collections::BTreeMap;
use telemetry::{Clock, Millis};
use toml::Spanned;
use toml::de::DeValue;

/// The name of such a table.
pub(super) const NAME: &str = "finding";
/// The keys of `[[finding]]`.
pub const KEYS: &[&str] = &["finding.name", "finding.question", "finding.above", "finding.below", "finding.sentence"];
/// The most tables.
const MOST: usize = 32;

/// A finding that the file defines.
#[derive(Debug, Clone)]
pub struct DeclaredFinding {
    /// File and line, for messages.
    pub place: String,
    /// The finding.
    pub finding: CustomFinding,
    /// Its lines as the file has them, for `daylight config show`.
    pub(crate) written: Vec<(&'static str, serde_json::Value)>,
}

/// Reads every table.
pub(super) fn read(
    tables: &Spanned<DeValue<'_>>,
    at: usize,
    place: impl Fn(usize) -> String,
) -> Result<Vec<DeclaredFinding>, Error> {
    let form =
        |at| Error::NotToml { place: place(at), message: "write `[[finding]]`, once for each finding".to_owned() };
    let DeValue::Array(tables) = tables.get_ref() else { return Err(form(at)) };
    if tables.len() > MOST {
        return Err(Error::NotToml { place: place(at), message: format!("there are more than {MOST} findings") });
    }
    let (mut declared, mut places, now) = (Vec::new(), BTreeMap::new(), Clock::default().now());
    for table in tables {
        let DeValue::Table(body) = table.get_ref() else { return Err(form(table.span().start)) };
        let table = AppTable::new(NAME, KEYS, body, table.span().start, &place)?;
        let one = one(&table, now)?;
        let name = one.finding.name().to_owned();
        if insight::check_list().any(|check| check.key == name) {
            let text = format!("{}: the server has a check `{name}` of its own", one.place);
            return Err(Error::Contradiction { text, hint: "give the finding another name".to_owned() });
        }
        if let Some(before) = places.insert(name.clone(), one.place.clone()) {
            let text = format!("{}: the finding `{name}` is defined already, in {before}", one.place);
            return Err(Error::Contradiction { text, hint: "define each finding in one table".to_owned() });
        }
        declared.push(one);
    }
    Ok(declared)
}

fn one(table: &AppTable<'_>, now: Millis) -> Result<DeclaredFinding, Error> {
    let missing = |key: &str| Error::Finding {
        place: table.place.clone(),
        message: format!("a finding needs `{key}`"),
        hint: Some("docs/configuration.md has an example".to_owned()),
    };
    let text = |key: &'static str| table.text(key)?.ok_or_else(|| missing(key.trim_start_matches("finding.")));
    let ((name, named_at), (question, asked_at), (sentence, said_at)) =
        (text("finding.name")?, text("finding.question")?, text("finding.sentence")?);
    let (above, below) = (table.decimal("finding.above")?, table.decimal("finding.below")?);
    let (threshold, limit) = match (above, below) {
        (Some(above), None) => (Threshold::Above(above), ("above", above)),
        (None, Some(below)) => (Threshold::Below(below), ("below", below)),
        (None, None) => return Err(missing("above` or `below")),
        (Some(_), Some(_)) => {
            let text = format!("{}: a finding has one of `above` and `below`", table.place);
            return Err(Error::Contradiction { text, hint: "use two findings for two thresholds".to_owned() });
        }
    };
    let finding = CustomFinding::new(&name, &question, threshold, &sentence, now).map_err(|error| Error::Finding {
        place: match error {
            NotCustom::Name => named_at,
            NotCustom::Sentence => said_at,
            _ => asked_at,
        },
        message: error.to_string(),
        hint: Some(error.hint()),
    })?;
    let written = vec![
        ("name", name.into()),
        ("question", question.into()),
        (limit.0, limit.1.into()),
        ("sentence", sentence.into()),
    ];
    Ok(DeclaredFinding { place: table.place.clone(), finding, written })
}

#[cfg(test)]
mod tests;
