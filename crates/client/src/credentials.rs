//! The `Authorization` header for an upstream.

use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

/// The value of `Authorization` for `user:password`, or for a token, which contains no colon (RFC 7617, RFC 6750 2.1). `None`
/// where HTTP cannot carry it.
pub(crate) fn authorization(secret: &Secret) -> Option<HeaderValue> {
    let text = secret.expose();
    let value = if text.contains(':') {
        format!("Basic {}", STANDARD.encode(text))
    } else if text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.is_empty() {
        format!("Bearer {text}")
    } else {
        return None;
    };
    let mut value = HeaderValue::try_from(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_makes_it_basic_and_none_makes_it_a_token() {
        let sent = |text: &str| authorization(&Secret::new(text.to_owned()));
        assert_eq!(sent("me:hush").unwrap(), "Basic bWU6aHVzaA==");
        assert_eq!(sent("abc").unwrap(), "Bearer abc");
        assert!(sent("abc").unwrap().is_sensitive());
        assert!(sent("line\nbreak").is_none() && sent("").is_none());
    }
}
