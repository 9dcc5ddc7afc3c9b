//! The arguments of a tool, checked by the schema that the client was given.

use serde_json::{Map, Value, json};

/// An argument of a tool.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) is_needed: bool,
    pub(super) about: &'static str,
}

/// The form of an argument.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// A text with at most so many characters, and at least one.
    Text(usize),
    /// A whole number from 1 to this.
    Number(u64),
    /// Some of these words.
    Words(&'static [&'static str]),
}

impl Argument {
    pub(super) const fn needed(name: &'static str, form: Form, about: &'static str) -> Self {
        Self { name, form, is_needed: true, about }
    }

    pub(super) const fn free(name: &'static str, form: Form, about: &'static str) -> Self {
        Self { name, form, is_needed: false, about }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.form {
            Form::Text(most) => json!({ "type": "string", "minLength": 1, "maxLength": most }),
            Form::Number(most) => json!({ "type": "integer", "minimum": 1, "maximum": most }),
            Form::Words(words) => {
                json!({ "type": "array", "items": { "enum": words }, "uniqueItems": true, "maxItems": words.len() })
            }
        };
        schema["description"] = self.about.into();
        schema
    }

    /// The fault of a value. `None`: it has none.
    fn wrong(&self, value: &Value) -> Option<String> {
        let name = self.name;
        let (fits, must) = match self.form {
            Form::Text(most) => (
                value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= most),
                format!("`{name}` must be a text of 1 to {most} characters"),
            ),
            Form::Number(most) => (
                value.as_u64().is_some_and(|number| (1..=most).contains(&number)),
                format!("`{name}` must be a whole number from 1 to {most}"),
            ),
            Form::Words(words) => {
                let is_one = |value: &Value| value.as_str().is_some_and(|word| words.contains(&word));
                let fits = |list: &Vec<Value>| list.len() <= words.len() && list.iter().all(is_one);
                let must = format!("`{name}` must be a list of some of `{}`", words.join("`, `"));
                (value.as_array().is_some_and(fits), must)
            }
        };
        (!fits).then_some(must)
    }
}

/// The schema of the arguments of a tool.
pub(super) fn schema(arguments: &[Argument]) -> Value {
    let properties: Map<String, Value> =
        arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
    let needed: Vec<&str> = arguments.iter().filter(|one| one.is_needed).map(|one| one.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !needed.is_empty() {
        schema["required"] = needed.into();
    }
    schema
}

/// The arguments of a call. A sentence, if they do not fit the schema.
pub(super) fn check(arguments: &[Argument], given: Option<&Value>) -> Result<Map<String, Value>, String> {
    let names = || arguments.iter().map(|one| format!("`{}`", one.name)).collect::<Vec<_>>().join(", ");
    let given = match given {
        None => Map::new(),
        Some(Value::Object(given)) => given.clone(),
        Some(_) => return Err("`arguments` must be an object".to_owned()),
    };
    if let Some(odd) = given.keys().find(|name| !arguments.iter().any(|one| one.name == name.as_str())) {
        let odd: String = odd.chars().take(40).collect();
        let takes = if arguments.is_empty() { "it takes none".to_owned() } else { format!("it takes {}", names()) };
        return Err(format!("the tool has no argument `{odd}`; {takes}"));
    }
    for argument in arguments {
        match given.get(argument.name) {
            None if argument.is_needed => return Err(format!("the tool needs the argument `{}`", argument.name)),
            None => {}
            Some(value) => argument.wrong(value).map_or(Ok(()), Err)?,
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGUMENTS: &[Argument] = &[
        Argument::needed("question", Form::Text(5), "A question"),
        Argument::free("limit", Form::Number(50), "The most"),
        Argument::free("state", Form::Words(&["open", "closed"]), "States"),
    ];

    #[test]
    fn the_schema_names_each_limit_that_is_checked() {
        let schema = schema(ARGUMENTS);
        assert_eq!(schema["required"], json!(["question"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["properties"]["question"]["maxLength"], 5);
        assert_eq!(schema["properties"]["limit"]["maximum"], 50);
        assert_eq!(schema["properties"]["state"]["items"]["enum"], json!(["open", "closed"]));
    }

    #[test]
    fn arguments_beyond_a_limit_are_told_in_a_sentence_that_names_it() {
        let wrong = |given: Value| check(ARGUMENTS, Some(&given)).unwrap_err();
        assert!(check(ARGUMENTS, Some(&json!({ "question": "count", "limit": 50, "state": ["open"] }))).is_ok());
        assert_eq!(check(ARGUMENTS, None).unwrap_err(), "the tool needs the argument `question`");
        assert_eq!(wrong(json!([])), "`arguments` must be an object");
        assert!(wrong(json!({ "question": "counts" })).contains("1 to 5 characters"));
        assert!(wrong(json!({ "question": 1 })).contains("1 to 5 characters"));
        assert!(wrong(json!({ "question": "a", "limit": 51 })).contains("from 1 to 50"));
        assert!(wrong(json!({ "question": "a", "state": ["opne"] })).contains("some of `open`, `closed`"));
        assert!(wrong(json!({ "question": "a", "rows": 1 })).contains("no argument `rows`; it takes `question`"));
    }
}
