//! Dictionaries of structured fields (RFC 9651, 4.2.2). A field that breaks a rule of them has no members at all.

/// The value of a member, as far as a cache reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A boolean; a member without a value is true.
    Flag(bool),
    /// An integer.
    Integer(i64),
    /// A string.
    Text(Vec<u8>),
    /// Any other type.
    Other,
}

/// The members of a dictionary in their order. Of several with one key the last one counts. `None`: the field is not a dictionary.
pub(crate) fn parse(field: &[u8]) -> Option<Vec<(&str, Value)>> {
    let mut rest = Cursor(field.trim_ascii());
    let mut members: Vec<(&str, Value)> = Vec::new();
    while !rest.0.is_empty() {
        let key = rest.key()?;
        let value = if rest.take(b'=') { rest.item_or_list()? } else { Value::Flag(true) };
        rest.parameters()?;
        members.retain(|(known, _)| *known != key);
        members.push((key, value));
        rest.space(b" \t");
        if rest.0.is_empty() {
            break;
        }
        if !rest.take(b',') {
            return None;
        }
        rest.space(b" \t");
        if rest.0.is_empty() {
            return None;
        }
    }
    Some(members)
}

/// The part of a field that is still to be read.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, byte: u8) -> bool {
        let there = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(there)..];
        there
    }

    fn while_one(&mut self, is: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !is(*byte)).unwrap_or(self.0.len());
        let (part, rest) = self.0.split_at(end);
        self.0 = rest;
        part
    }

    fn space(&mut self, kinds: &[u8]) {
        self.while_one(|byte| kinds.contains(&byte));
    }

    fn key(&mut self) -> Option<&'a str> {
        let first = *self.0.first()?;
        if !first.is_ascii_lowercase() && first != b'*' {
            return None;
        }
        let key = self.while_one(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte));
        std::str::from_utf8(key).ok()
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.space(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare()?;
            }
        }
        Some(())
    }

    fn item_or_list(&mut self) -> Option<Value> {
        if !self.take(b'(') {
            return self.bare();
        }
        loop {
            self.space(b" ");
            if self.take(b')') {
                return Some(Value::Other);
            }
            self.bare()?;
            self.parameters()?;
            if !matches!(self.0.first(), Some(b' ' | b')')) {
                return None;
            }
        }
    }

    fn bare(&mut self) -> Option<Value> {
        match *self.0.first()? {
            b'-' | b'0'..=b'9' => self.number(),
            b'"' => self.text(),
            b':' => {
                self.take(b':');
                self.while_one(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
                self.take(b':').then_some(Value::Other)
            }
            b'?' => {
                self.take(b'?');
                let flag = self.take(b'1');
                (flag || self.take(b'0')).then_some(Value::Flag(flag))
            }
            b'@' => {
                self.take(b'@');
                matches!(self.number()?, Value::Integer(_)).then_some(Value::Other)
            }
            b'%' => {
                self.take(b'%');
                self.text().map(|_| Value::Other)
            }
            first if first.is_ascii_alphabetic() || first == b'*' => {
                self.while_one(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte));
                Some(Value::Other)
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Value> {
        let negative = self.take(b'-');
        let whole = self.while_one(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 15 {
            return None;
        }
        if self.take(b'.') {
            let fraction = self.while_one(|byte| byte.is_ascii_digit()).len();
            return (whole.len() <= 12 && (1..=3).contains(&fraction)).then_some(Value::Other);
        }
        let number: i64 = std::str::from_utf8(whole).ok()?.parse().ok()?;
        Some(Value::Integer(if negative { -number } else { number }))
    }

    fn text(&mut self) -> Option<Value> {
        self.take(b'"').then_some(())?;
        let mut text = Vec::new();
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            match byte {
                b'"' => return Some(Value::Text(text)),
                b'\\' => {
                    let (escaped, rest) = self.0.split_first().filter(|(byte, _)| b"\"\\".contains(byte))?;
                    text.push(*escaped);
                    self.0 = rest;
                }
                b' '..=b'~' => text.push(*byte),
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn members_have_keys_values_and_parameters() {
        let field = br#"max-age=60;a;b=1, private, no-cache="a, \"b", x=(1 "y";z tok), y=?0, d=@1659578233, u=%"f%c3%bc", t=a/b:c, n=-5, f=1.25, *k=:YQ==:"#;
        let members = parse(field).unwrap();
        let value = |key: &str| members.iter().find(|(known, _)| *known == key).unwrap().1.clone();
        assert_eq!(value("max-age"), Value::Integer(60));
        assert_eq!(value("private"), Value::Flag(true));
        assert_eq!(value("no-cache"), Value::Text(b"a, \"b".to_vec()));
        assert_eq!((value("y"), value("n")), (Value::Flag(false), Value::Integer(-5)));
        for key in ["x", "d", "u", "t", "f", "*k"] {
            assert_eq!(value(key), Value::Other, "{key}");
        }
    }

    #[test]
    fn the_last_of_one_key_counts() {
        assert_eq!(parse(b"a=1, b, a=2").unwrap(), [("b", Value::Flag(true)), ("a", Value::Integer(2))]);
        assert_eq!(parse(b"  ").unwrap(), []);
    }

    #[test]
    fn a_field_that_breaks_a_rule_has_no_members() {
        for field in [
            "max-age=10000, &&&&&",
            "max-age =100",
            "max-age= 100",
            "MaX-aGe=3600",
            "a,",
            "a,,b",
            "a b",
            "a=",
            "a=\"b",
            "a=1.",
            "a=1.2345",
            "a=1234567890123456",
            "a=(1",
            "a=(1\"b\")",
            "a=?2",
            "a=:b",
            "a;B",
            "a=\"\\n\"",
            "=1",
            "a=1b",
        ] {
            assert_eq!(parse(field.as_bytes()), None, "{field}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_an_end(field in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&field);
        }
    }
}
