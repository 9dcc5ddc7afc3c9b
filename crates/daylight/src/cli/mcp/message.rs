//! Messages of JSON-RPC 2.0, as the Model Context Protocol uses them: a client sends requests and notifications, a server answers requests.

use serde_json::{Map, Value, json};

/// The longest id of a request that is a text, in bytes.
const ID_MAX: usize = 256;

/// The fault of a request, by the codes of JSON-RPC and of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    NoJson = -32_700,
    NoRequest = -32_600,
    NoSuchMethod = -32_601,
    BadParameters = -32_602,
    UnsupportedVersion = -32_022,
}

/// A refusal of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: Code,
    pub(super) text: String,
    /// More of it, for programs; null: there is no more.
    pub(super) data: Value,
}

/// The id of a request, as its answer repeats it: a text or a whole number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Id(Value);

/// A message of the client.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Request {
        id: Id,
        method: String,
        params: Map<String, Value>,
    },
    /// A notification, or an answer to a request that was never sent: it gets no answer.
    Silent,
    /// It is none of these. The id is that of the request, if it can be read.
    Bad {
        id: Option<Id>,
        refusal: Refusal,
    },
}

impl Refusal {
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), data: Value::Null }
    }
}

impl Id {
    fn read(value: &Value) -> Option<Self> {
        let fits = match value {
            Value::String(text) => text.len() <= ID_MAX,
            Value::Number(number) => number.is_i64() || number.is_u64(),
            _ => false,
        };
        fits.then(|| Self(value.clone()))
    }
}

impl Message {
    /// Reads a line.
    pub(super) fn read(line: &[u8]) -> Self {
        let bad = |id, code, text: &str| Self::Bad { id, refusal: Refusal::new(code, text) };
        let mut object = match serde_json::from_slice(line) {
            Ok(Value::Object(object)) => object,
            Ok(Value::Array(_)) => return bad(None, Code::NoRequest, "a line is one message, not a batch of them"),
            Ok(_) => return bad(None, Code::NoRequest, "a message is an object"),
            Err(error) => return bad(None, Code::NoJson, &format!("the line is no JSON: {error}")),
        };
        let (id, has_id) = (object.get("id").and_then(Id::read), object.contains_key("id"));
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return bad(id, Code::NoRequest, "`jsonrpc` must be \"2.0\"");
        }
        let method = match object.remove("method") {
            Some(Value::String(method)) => method,
            None if object.contains_key("result") || object.contains_key("error") => return Self::Silent,
            _ => return bad(id, Code::NoRequest, "`method` must be a text"),
        };
        if !has_id {
            return Self::Silent;
        }
        let Some(id) = id else {
            return bad(None, Code::NoRequest, "`id` must be a text of at most 256 bytes or a whole number");
        };
        match object.remove("params") {
            None => Self::Request { id, method, params: Map::new() },
            Some(Value::Object(params)) => Self::Request { id, method, params },
            Some(_) => bad(Some(id), Code::BadParameters, "`params` must be an object"),
        }
    }
}

/// The answer to a request.
pub(super) fn answer(id: &Id, result: Result<Value, Refusal>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id.0, "result": result }),
        Err(refusal) => refused(Some(id), refusal),
    }
}

/// The refusal of a message. Without an id it has none: no client takes null for an id.
pub(super) fn refused(id: Option<&Id>, refusal: Refusal) -> Value {
    let Refusal { code, text, data } = refusal;
    let mut answer = json!({ "jsonrpc": "2.0", "error": { "code": code as i32, "message": text } });
    if !data.is_null() {
        answer["error"]["data"] = data;
    }
    if let Some(id) = id {
        answer["id"] = id.0.clone();
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn code(line: &str) -> Option<Code> {
        match Message::read(line.as_bytes()) {
            Message::Bad { refusal, .. } => Some(refusal.code),
            _ => None,
        }
    }

    #[test]
    fn a_request_has_an_id_and_a_method_and_what_has_no_id_gets_no_answer() {
        let read = Message::read(br#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"b":1}}"#);
        let Message::Request { id, method, params } = read else { panic!("{read:?}") };
        assert_eq!((id, &*method, Value::Object(params)), (Id(json!("a")), "ping", json!({ "b": 1 })));
        for silent in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        ] {
            assert_eq!(Message::read(silent.as_bytes()), Message::Silent, "{silent}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_code_of_the_protocol() {
        for (line, wanted) in [
            ("{", Code::NoJson),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}} x", Code::NoJson),
            ("[]", Code::NoRequest),
            ("1", Code::NoRequest),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Code::NoRequest),
            (r#"{"jsonrpc":"2.0","id":1}"#, Code::NoRequest),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Code::NoRequest),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Code::NoRequest),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, Code::BadParameters),
        ] {
            assert_eq!(code(line), Some(wanted), "{line}");
        }
        assert_eq!(code(&"[".repeat(100_000)), Some(Code::NoJson), "nothing is read deeper than the reader's limit");
        let refusal = refused(None, Refusal::new(Code::NoJson, "no"));
        assert_eq!(refusal, json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "no" } }));
    }

    /// A value of JSON, at most four deep.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from)
        ];
        let key = prop_oneof![
            Just("jsonrpc".to_owned()),
            Just("id".to_owned()),
            Just("method".to_owned()),
            Just("params".to_owned()),
            ".{0,4}"
        ];
        leaf.prop_recursive(4, 32, 5, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map(key.clone(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_line_stops_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            Message::read(&bytes);
        }

        #[test]
        fn any_json_is_a_message_or_is_refused_and_an_answer_repeats_the_id(value in value()) {
            let mut value = value;
            if let Value::Object(object) = &mut value {
                object.insert("jsonrpc".to_owned(), "2.0".into());
            }
            match Message::read(value.to_string().as_bytes()) {
                Message::Request { id, .. } => prop_assert_eq!(&answer(&id, Ok(Value::Null))["id"], &value["id"]),
                Message::Bad { id: Some(id), .. } => prop_assert_eq!(&id.0, &value["id"]),
                Message::Bad { id: None, .. } | Message::Silent => {}
            }
        }
    }
}
