//! The forms in which people and programs send secrets where none belong.

use base64::prelude::{BASE64_STANDARD, Engine as _};

/// Every secret begins with this, so that a search for it finds all of them, and shows which one leaked.
pub(super) const MARK: &str = "Qz7Secret";
/// Names of values that are secret.
const NAMES: [&str; 12] = [
    "token",
    "key",
    "password",
    "secret",
    "api_key",
    "apikey",
    "access_token",
    "sig",
    "signature",
    "X-Amz-Signature",
    "client_secret",
    "private-key",
];

/// The texts that no byte on disk and no answer may contain.
pub(super) fn needles(tokens: &[&str]) -> Vec<String> {
    let tokens = tokens.iter().map(|token| token.trim_start_matches("daylight_").to_owned());
    [MARK.to_owned(), basic("")].into_iter().chain(tokens).collect()
}

/// The credentials of a user in Base64. Without the last character, which depends on what follows.
fn basic(rest: &str) -> String {
    let secret = BASE64_STANDARD.encode(format!("me:{MARK}{rest}"));
    secret.trim_end_matches('=').to_owned()
}

/// All forms of the secret with this end. The tokens are secrets as they are.
pub(super) fn forms(end: &str, tokens: &[&str]) -> Vec<String> {
    let secret = format!("{MARK}{end}");
    let mut forms = vec![
        format!("https://me:{secret}@host.example/x"),
        format!("https:/me:{secret}@host.example"),
        format!("me:{secret}@host.example"),
        format!("eyJhbGciOiJIUzI1NiJ9.eyJ{secret}IiwibmFtZSI6.{secret}"),
        format!("Bearer {secret}"),
        format!("Basic {}", basic(end)),
        format!("Authorization: Bearer {secret}"),
        format!("Cookie: session={secret}; other={secret}"),
        format!("{{\"access_token\":\"{secret}\"}}"),
    ];
    forms.extend(NAMES.iter().map(|name| format!("{name}={secret}")));
    forms.extend(tokens.iter().map(|token| (*token).to_owned()));
    let coded: Vec<String> = forms.iter().map(|form| coded(form)).collect();
    forms.extend(coded);
    forms
}

/// A text with all characters encoded but letters and digits.
pub(super) fn coded(text: &str) -> String {
    let code =
        |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(code).collect()
}
