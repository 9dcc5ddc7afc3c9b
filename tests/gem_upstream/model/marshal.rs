//! Parses the older index: the subset of Marshal that these files use.

use flate2::read::GzDecoder;
use std::io::Read as _;

#[derive(Debug)]
enum Value {
    List(Vec<Value>),
    Text(String),
    Other,
}

struct Reader<'a> {
    bytes: &'a [u8],
}

/// The versions in one of the files, as `/versions` writes them.
pub(super) fn specs(file: &[u8]) -> Vec<(String, String)> {
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    let mut reader = Reader { bytes: bytes.strip_prefix(&[4, 8]).unwrap() };
    let Value::List(all) = reader.value() else { panic!("no list") };
    assert!(reader.bytes.is_empty());
    all.into_iter().map(tuple).collect()
}

fn tuple(value: Value) -> (String, String) {
    let Value::List(parts) = value else { panic!("{value:?}") };
    let texts: Vec<String> = parts.into_iter().map(text).collect();
    let [name, number, platform] = <[String; 3]>::try_from(texts).unwrap();
    let token = if platform == "ruby" { number } else { format!("{number}-{platform}") };
    (name, token)
}

fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::List(mut one) if one.len() == 1 => text(one.remove(0)),
        other => panic!("{other:?}"),
    }
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.bytes.split_first().unwrap();
        self.bytes = rest;
        *first
    }

    fn number(&mut self) -> usize {
        match self.byte() {
            0 => 0,
            count @ 1..=4 => (0..count).fold(0, |number, at| number | usize::from(self.byte()) << (8 * at)),
            small => usize::from(small) - 5,
        }
    }

    fn bytes(&mut self) -> String {
        let length = self.number();
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }

    fn value(&mut self) -> Value {
        match self.byte() {
            b'[' => Value::List((0..self.number()).map(|_| self.value()).collect()),
            b'I' => {
                let value = self.value();
                (0..self.number()).for_each(|_| drop((self.value(), self.value())));
                value
            }
            b'"' => Value::Text(self.bytes()),
            b'U' => {
                self.value();
                self.value()
            }
            b':' => {
                self.bytes();
                Value::Other
            }
            b';' => {
                self.number();
                Value::Other
            }
            b'T' | b'F' | b'0' => Value::Other,
            other => panic!("{other:?}"),
        }
    }
}
