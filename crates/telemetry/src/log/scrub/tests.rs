//! Secrets of every form are hidden, wherever a text is cut, and other texts stay as they are.

use super::*;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;

const MAX: usize = 512;
const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";

#[test]
fn credentials_are_hidden_and_control_characters_replaced() {
    for (text, shown) in [
        (
            "bundler/2 options/mirror.https://me:secret@host/x,jobs\n http://t@h",
            "bundler/2 options/mirror.https://***@host/x,jobs\u{fffd} http://***@h",
        ),
        ("https://me:se/cr,et@host/", "https://***@host/"),
        ("https://me:p@ss://word@host https://host/x", "https://***@host https://host/x"),
        ("/raw/https:/me:secret@host/x", "/raw/https:/***@host/x"),
        ("me:secret@host", "me:***@host"),
        ("/tokens/daylight_0123456789-0123456789x/y", "/tokens/daylight_***/y"),
        ("/gems/daylight_client-1.0.gem", "/gems/daylight_client-1.0.gem"),
        ("https://github.com/ruby", "https://github.com/ruby"),
    ] {
        assert_eq!(scrub(text, MAX), shown);
    }
}

#[test]
fn characters_that_hide_or_reorder_text_are_replaced() {
    for c in "\u{200b}\u{200f}\u{2028}\u{202e}\u{2060}\u{2069}\u{feff}\u{e0000}\u{e007f}\u{1b}".chars() {
        assert_eq!(scrub(&format!("a{c}b"), MAX), "a\u{fffd}b");
    }
    assert_eq!(scrub("é\u{2010}日本", MAX), "é\u{2010}日本");
}

#[test]
fn jwts_and_credentials_of_authorization_are_hidden() {
    for (text, shown) in [
        (format!("/raw/{JWT}/x"), "/raw/***/x"),
        (format!("token={JWT}"), "token=***"),
        (format!("x{JWT} y"), "x*** y"),
        ("/com/example/KeyJarWriterFactory-1.2.jar".to_owned(), "/com/example/KeyJarWriterFactory-1.2.jar"),
        ("curl/8 Bearer abc-DEF123 x".to_owned(), "curl/8 Bearer *** x"),
        ("it refused basic  bWU6c2VjcmV0".to_owned(), "it refused basic  ***"),
        ("Basic authentication is needed".to_owned(), "Basic authentication is needed"),
        ("a Bearer token is missing".to_owned(), "a Bearer token is missing"),
    ] {
        assert_eq!(scrub(&text, MAX), shown);
    }
}

#[test]
fn values_with_secret_names_are_hidden() {
    for (text, shown) in [
        ("/x?token=abc&page=2#y", "/x?token=***&page=2#y"),
        ("/x?user[password]=a+b&X-Amz-Signature=0f/x&Sig=y", "/x?user[password]=***&X-Amz-Signature=***&Sig=***"),
        ("/x;access_token=abc/y", "/x;access_token=***"),
        (r#"{"api_key": "a\"b c", "page": 2}"#, r#"{"api_key": "***", "page": 2}"#),
        (r#"said {\"secret\":\"abc\"}"#, r#"said {\"secret\":\"***"#),
        ("Cookie: a=b; c=d", "Cookie: ***"),
        ("X-Api-Key: abc said no", "X-Api-Key: *** said no"),
        ("password: abc", "password: ***"),
        ("Authorization: Digest a=\"b\"", "Authorization: ***"),
        ("cannot read the key: no such file", "cannot read the key: no such file"),
        ("org.example.key:lamp:1.0 author=me", "org.example.key:lamp:1.0 author=me"),
        ("token=", "token="),
    ] {
        assert_eq!(scrub(text, MAX), shown);
    }
}

#[test]
fn quotes_and_signs_do_not_end_a_secret() {
    for (text, shown) in [
        (r#"Cookie: _app_sid2="X""#, "Cookie: ***"),
        (r#"Set-Cookie: app="X"; Path=/"#, "Set-Cookie: ***"),
        (r#"Cookie: "X"; b="Y""#, "Cookie: ***"),
        (r#"Authorization: Digest username="me", response="X""#, "Authorization: ***"),
        (r#"curl -H "Cookie: a=b; c=d" /x"#, r#"curl -H "Cookie: ***" /x"#),
        (r#"curl -H 'Cookie: a="b"' /x"#, "curl -H 'Cookie: ***' /x"),
        (r#"curl -H "Cookie: a="b"" /x"#, r#"curl -H "Cookie: ***" /x"#),
        (r#"{"Cookie": "a=b", "page": 2}"#, r#"{"Cookie": "***", "page": 2}"#),
        ("Cookie: a=b\nHost: x", "Cookie: ***\u{fffd}Host: x"),
        ("password=ab<X y", "password=*** y"),
        ("password=ab\"X y", "password=*** y"),
        ("password=ab'X&y=1", "password=***&y=1"),
        ("password=ab#X y", "password=*** y"),
        (r#"{"password"=>"X", "page"=>2}"#, r#"{"password"=>"***", "page"=>2}"#),
    ] {
        assert_eq!(scrub(text, MAX), shown);
    }
}

#[test]
fn any_word_of_a_name_can_say_that_it_is_secret() {
    for name in [
        "token[]",
        "password[0]",
        "password_confirmation",
        "passwordConfirmation",
        "password1",
        "token2",
        "user[password][new]",
        "password[new]",
        "db_pass",
        "_app_sid2",
        "API_KEY_2",
    ] {
        assert_eq!(scrub(&format!("/x?{name}=X&page=2"), MAX), format!("/x?{name}=***&page=2"));
    }
    for name in ["token", "api_key", "GEM_HOST_API_KEY", ":rubygems_api_key", "token-of-me"] {
        assert_eq!(scrub(&format!("{name}: abc123 and"), MAX), format!("{name}: *** and"));
        assert_eq!(scrub(&format!("{name}:\t'ab Cd1'"), MAX), format!("{name}:\u{fffd}'***'"));
    }
    for text in [
        "token: a token is needed",
        "api_key: Permission denied",
        "token-service: connection refused",
        "author=me&tokyo=1&monitor: Abc123",
        "org.example:token:1.2.3-SNAPSHOT:x",
    ] {
        assert_eq!(scrub(text, MAX), text);
    }
}

#[test]
fn a_scheme_of_authorization_may_be_followed_by_other_separators() {
    for (text, shown) in [
        ("Bearer\tabc-DEF123 x", "Bearer\u{fffd}*** x"),
        ("/x?h=Bearer+abc-DEF123&y", "/x?h=Bearer+***&y"),
        ("Bearer:abc-DEF123", "Bearer:***"),
        ("/x/Bearer%09abc-DEF123/y", "/x/Bearer\u{fffd}***"),
        ("curl/8 Token abc-DEF123", "curl/8 Token ***"),
        ("/x?h=Basic+bWU6c2VjcmV0", "/x?h=Basic+***"),
        ("/x?q=token+bucket", "/x?q=token+bucket"),
        ("com.example:basic:1.0.0-RC1", "com.example:basic:1.0.0-RC1"),
    ] {
        assert_eq!(scrub(text, MAX), shown);
    }
}

#[test]
fn our_tokens_are_hidden_within_base64_after_any_user() {
    let rest = "b0FBQzEyMzQ1Njc4OTBhYmNkZWZnaGlqa2xtbm9w";
    for encoded in ["ZGF5bGlnaHRf", "bWU6ZGF5bGlnaHRf", "eDpkYXlsaWdodF", "eDp5OmRheWxpZ2h0X", "bWVlOmRheWxpZ2h0X"] {
        assert_eq!(scrub(&format!("said {encoded}{rest}= x"), MAX), format!("said {encoded}*** x"));
        let name = format!("said {encoded}short x");
        assert_eq!(scrub(&name, MAX), name);
    }
}

#[test]
fn jwts_of_printed_json_and_tokens_of_others_are_hidden() {
    for jwt in ["eyAiYWxnIjogIkhTMjU2IiB9", "ewogICJhbGciOiAiSFMyNTYiCn0", "ewoiYWxnIjoiSFMyNTYifQ"] {
        assert_eq!(scrub(&format!("/raw/{jwt}.{jwt}.dozjgNryP4J3/x y"), MAX), "/raw/***/x y");
    }
    for prefix in ["ghp_", "github_pat_", "glpat-", "rubygems_", "AKIA"] {
        assert_eq!(scrub(&format!("said {prefix}0123456789ABCDEF x"), MAX), format!("said {prefix}*** x"));
    }
    for text in [
        "gem rubygems_something-else-entirely-1.0.0.gem",
        "gem ghp_helpers-for-all",
        "said AKIARA0123",
        "said AKIAabcdefghijklmnopqrs",
        "gem ewogroup.something.else.of.you",
    ] {
        assert_eq!(scrub(text, MAX), text);
    }
}

#[test]
fn a_text_is_decoded_if_that_reveals_a_secret() {
    for (text, shown) in [
        ("/raw/https%3A%2F%2Fme%3Asecret%40host/a%20b", "/raw/https://***@host/a b"),
        ("https%3A%2F%2Fme%3Ap%20X%40host/ y", "https://***@host/ y"),
        ("/raw/https%253A%252F%252Fme%253Ap%2520X%2540host/", "/raw/https://***@host/"),
        ("/raw/token%253Dabc", "/raw/token=***"),
        ("/gems/daylight%5F0123456789-0123456789x", "/gems/daylight_***"),
        ("/raw/a%20b%", "/raw/a%20b%"),
        ("/raw/%zz", "/raw/%zz"),
    ] {
        assert_eq!(scrub(text, MAX), shown);
    }
}

#[test]
fn after_many_secrets_the_rest_of_the_text_is_hidden() {
    for secret in ["&key=a ", "daylight_0123456789ABCDEFGHIJ ", "eyJ0123456789ABCDEFGHIJ ", "basic 0A0A0A "] {
        let shown = scrub(&format!("{}and more", secret.repeat(100)), MAX);
        assert!(shown.ends_with("***") && shown.len() < 300, "{shown}");
    }
}

#[test]
fn text_is_cut_at_a_character() {
    assert_eq!(scrub(&"é".repeat(600), MAX), "é".repeat(256));
    assert_eq!(scrub(&"é".repeat(60_000), 511), "é".repeat(255));
}

/// A text with a secret of capital letters and digits, in the form that `kind` selects.
fn with_secret(kind: usize, secret: &str) -> String {
    let word: String = secret.chars().filter(char::is_ascii_alphanumeric).collect();
    let names = ["token", "key", "password", "secret", "api_key", "access-token", "sig", "x.signature"];
    match kind {
        0 => format!(" https://me:S{secret}S@host "),
        1 => format!("http://S{secret}S@host/"),
        2 => format!("/daylight_{word}0123456789ABCDEFGHIJ/"),
        // The first letters of a JWT are known: here they are not part of the secret.
        3 => format!("/jwt.eyJ{word}0123456789ABCDEFGHIJ.eyJ{word}.{word}/"),
        4 => format!(" basic {word}0A1B2C "),
        5 => format!(" bearer {word}0A1B2C "),
        6 => format!(" cookie: x{secret} "),
        _ => format!("&{}={secret}&", names[kind % names.len()]),
    }
}

proptest! {
    #[test]
    fn no_text_panics(
        parts in prop::collection::vec("\\PC|\n|[:=@%&#\"'/\\\\ ]|é|token|key|cookie|authorization|Bearer |eyJ|daylight_|https?://|%[0-9A-F]{2}", 0..40),
        max in 0usize..200,
    ) {
        scrub(&parts.concat(), max);
    }

    #[test]
    fn no_secret_survives_wherever_the_text_is_cut(
        parts in prop::collection::vec(
            (0usize..15, 0usize..3, "[a-z /,.@:-]{0,40}", 0usize..1300, "[A-Z0-9/,:@_-]{8,60}"), 1..8),
    ) {
        // Only secrets have capital letters and digits.
        let text: String = parts.iter().map(|(kind, coded, around, fill, secret)| {
            let mut part = with_secret(*kind, secret);
            for _ in 0..*coded {
                part = utf8_percent_encode(&part, NON_ALPHANUMERIC).to_string();
            }
            let fill = "p".repeat(*fill);
            if *coded > 0 { format!("{around}{fill} {part} ") } else { format!("{around}{fill}{part}{around} ") }
        }).collect();
        let shown = scrub(&text, MAX);
        prop_assert!(shown.len() <= MAX);
        let shown = (0..3).fold(shown.replace("eyJ", ""), |text, _| percent_decode_str(&text).decode_utf8_lossy().into_owned());
        prop_assert!(!shown.contains(|c: char| c.is_ascii_uppercase()), "{shown}");
    }

    #[test]
    fn a_plain_text_would_not_be_changed(text in "[!-~]{0,40}([a-z_.-]|eyJ|t_|%3A|=|:){0,6}[!-~]{0,40}") {
        if plain(text.as_bytes()) {
            prop_assert_eq!(cleaned(&text, text.len()), text);
        }
    }

    #[test]
    fn every_byte_and_pair_is_looked_at(at in 0usize..60, rest in 0usize..60, odd in prop::sample::select(vec!["t_", "yJ", ":", "=", "%", " ", "é", "\n"])) {
        let text = format!("{}{odd}{}", "p".repeat(at), "p".repeat(rest));
        prop_assert!(!plain(text.as_bytes()));
        prop_assert!(plain("p".repeat(at + rest).as_bytes()));
    }
}
