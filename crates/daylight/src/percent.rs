//! Percent-encoding (RFC 3986 section 2.1), as paths, forms and queries use it.

/// The bytes that `text` stands for. `None` where an escape is broken.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(16 * high + low).ok()?
            }
            plain => plain,
        });
    }
    Some(bytes)
}

/// `text` as one segment of a URL's path.
pub(crate) fn segment(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'@' | b':' => char::from(byte).to_string(),
        // A segment of dots alone would be taken for a way up.
        b'.' if text.bytes().any(|byte| byte != b'.') => ".".to_owned(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// The pairs of an `application/x-www-form-urlencoded` text: what `gem` sends as a body, and a query.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a>(pub &'a str);

impl Form<'_> {
    /// The first value of `key`. `None`: there is none, or it cannot be read.
    pub fn value(self, key: &str) -> Option<String> {
        self.0.split('&').find_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            (plain(name)? == key).then(|| plain(value))?
        })
    }
}

/// A name or a value of a form: a plus is a space there.
fn plain(text: &str) -> Option<String> {
    String::from_utf8(decode(&text.replace('+', " "))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_are_read_as_gem_writes_them() {
        let form = Form("gem_name=a%2Db&version=1.0+x&platform=");
        assert_eq!(form.value("gem_name").as_deref(), Some("a-b"));
        assert_eq!(form.value("version").as_deref(), Some("1.0 x"));
        assert_eq!(form.value("platform").as_deref(), Some(""));
        assert_eq!(form.value("nothing"), None);
        for broken in ["%zz", "%4", "%", "%+1", "%ff"] {
            assert_eq!(Form(&format!("version={broken}")).value("version"), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_as_a_segment_is_read_again(text in any::<String>()) {
            prop_assert_eq!(decode(&segment(&text)).unwrap(), text.as_bytes());
        }
    }
}
