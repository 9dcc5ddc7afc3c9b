//! Renders answers of the API, as JSON or as YAML that `gem` reads.

use super::Form;
use serde_json::Value;
use std::fmt::Write as _;

/// Renders the document in this form; without a form, as JSON.
pub fn render(value: &Value, form: Form) -> Vec<u8> {
    match form {
        Form::Text | Form::Json => value.to_string(),
        Form::Yaml => {
            let mut text = String::from("---");
            block(value, 0, &mut text);
            text + "\n"
        }
    }
    .into_bytes()
}

/// A value after `key:`, `-` or `---`.
fn block(value: &Value, depth: usize, text: &mut String) {
    let line = |text: &mut String| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    match value {
        Value::Object(pairs) if !pairs.is_empty() => pairs.iter().for_each(|(key, value)| {
            line(text);
            quoted(key, text);
            text.push(':');
            block(value, depth + 1, text);
        }),
        Value::Array(items) if !items.is_empty() => items.iter().for_each(|item| {
            line(text);
            text.push('-');
            block(item, depth + 1, text);
        }),
        Value::String(scalar) => {
            text.push(' ');
            quoted(scalar, text);
        }
        // A number, true, false, null, [] or {}: the same in both forms.
        other => {
            let _ = write!(text, " {other}");
        }
    }
}

/// A double-quoted scalar. Whatever its content, it stays one scalar and stays text.
fn quoted(scalar: &str, text: &mut String) {
    text.push('"');
    for letter in scalar.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            ' '..='~' => text.push(letter),
            other => {
                let _ = write!(text, "\\U{:08X}", u32::from(other));
            }
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_the_same_in_both_forms() {
        let value = json!([{ "handle": "mi:\n\"é", "id": 7, "of": ["a", []] }, null, {}]);
        assert_eq!(render(&value, Form::Json), value.to_string().into_bytes());
        let yaml = String::from_utf8(render(&value, Form::Yaml)).unwrap();
        let expected = "---\n-\n  \"handle\": \"mi:\\U0000000A\\\"\\U000000E9\"\n  \"id\": 7\n  \"of\":\n    - \"a\"\n    - []\n\
                        - null\n- {}\n";
        assert_eq!(yaml, expected);
        assert_eq!(render(&json!("yes"), Form::Yaml), b"--- \"yes\"\n");
    }
}
