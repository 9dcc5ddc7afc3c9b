//! `[[repository]]` in the configuration file: repositories that the server creates or changes at its start, defined as in the API.

use super::error::Error;
use crate::settings_patch::RepositoryDefinition;
use format::gem::info::FormatVersion;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The name of such a table.
pub(super) const NAME: &str = "repository";

/// A repository that the file declares.
#[derive(Debug, Clone)]
pub struct DeclaredRepository {
    /// File and line, for messages.
    pub place: String,
    /// Its definition.
    pub definition: RepositoryDefinition,
    /// The table in the file.
    pub(crate) written: Map<String, Value>,
}

/// Reads every table. Mistakes that can be found without a server are refused here.
pub(super) fn read(
    tables: &Spanned<DeValue<'_>>,
    at: usize,
    place: impl Fn(usize) -> String,
) -> Result<Vec<DeclaredRepository>, Error> {
    let DeValue::Array(tables) = tables.get_ref() else {
        return Err(Error::NotToml {
            place: place(at),
            message: format!("write `[[{NAME}]]`, once for each repository"),
        });
    };
    let mut declared: Vec<DeclaredRepository> = Vec::with_capacity(tables.len());
    for table in tables {
        let one = one(table.get_ref(), place(table.span().start))?;
        if let Some(before) = declared.iter().find(|before| before.definition.name == one.definition.name) {
            let text = format!(
                "{}: the repository `{}` is declared already, in {}",
                one.place, one.definition.name, before.place
            );
            return Err(Error::Contradiction { text, hint: "declare each repository in one table".to_owned() });
        }
        declared.push(one);
    }
    Ok(declared)
}

fn one(table: &DeValue<'_>, place: String) -> Result<DeclaredRepository, Error> {
    let refused = |error: &repository::Error| Error::Repository {
        place: place.clone(),
        message: error.to_string(),
        hint: error.hint(),
    };
    let not = |message: String| Error::NotToml { place: place.clone(), message };
    let DeValue::Table(table) = table else {
        return Err(not(format!("write `[[{NAME}]]`, once for each repository")));
    };
    let written = object(table).map_err(not)?;
    let definition: RepositoryDefinition =
        serde_json::from_value(Value::Object(written.clone())).map_err(|error| not(error.to_string()))?;
    definition.record(FormatVersion::default()).map_err(|error| refused(&error))?;
    if written.contains_key("include_hosted") {
        let text = "`include_hosted` is no setting: the table confirms what its policy hides".to_owned();
        return Err(Error::Repository { place, message: text, hint: Some("leave the line out".to_owned()) });
    }
    Ok(DeclaredRepository { place, definition, written })
}

fn object(table: &DeTable<'_>) -> Result<Map<String, Value>, String> {
    table.iter().map(|(key, value)| Ok((key.get_ref().to_string(), json(value.get_ref())?))).collect()
}

fn array(values: &DeArray<'_>) -> Result<Vec<Value>, String> {
    values.iter().map(|value| json(value.get_ref())).collect()
}

fn json(value: &DeValue<'_>) -> Result<Value, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string().into()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Ok(number.into()),
            Err(_) => Err(format!("`{number}` is too large a number")),
        },
        DeValue::Boolean(yes) => Ok((*yes).into()),
        DeValue::Array(values) => array(values).map(Value::Array),
        DeValue::Table(table) => object(table).map(Value::Object),
        DeValue::Float(_) | DeValue::Datetime(_) => {
            Err(format!("no setting of a repository is a {}", value.type_str()))
        }
    }
}

/// A value as TOML writes it on one line.
pub(crate) fn toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let inside: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", inside.join(", "))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", ")),
        // Numbers, booleans and, with its escapes, text look alike in both.
        other => other.to_string(),
    }
}
