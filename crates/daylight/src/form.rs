//! Forms as `gem` sends them in a body, and queries: `application/x-www-form-urlencoded`.

/// The first value of `key` in an `application/x-www-form-urlencoded` text.
pub fn value(form: &str, key: &str) -> Option<String> {
    form.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (decode(name)? == key).then(|| decode(value))?
    })
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                u8::from_str_radix(digits, 16).ok()?
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_gem_writes_them() {
        let form = "gem_name=a%2Db&version=1.0+x&platform=";
        assert_eq!(value(form, "gem_name").as_deref(), Some("a-b"));
        assert_eq!(value(form, "version").as_deref(), Some("1.0 x"));
        assert_eq!(value(form, "platform").as_deref(), Some(""));
        assert_eq!(value(form, "nothing"), None);
        assert_eq!(value("version=%zz", "version"), None);
    }
}
