//! Webhooks: findings that open at one look are one message, which is signed and has an id that a repetition has, too.

use super::{ID, OTHER, at, await_told, body, mute, opens, quiet, taker, webhook};
use crate::world::{Says, await_true};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret in the form of Standard Webhooks, and its bytes.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[test]
fn two_findings_of_one_look_are_one_signed_message_whose_repetition_has_the_same_id() {
    let hook = taker();
    let world = quiet(&format!("{}key_env = \"HOOK_SECRET\"\n", webhook("chat", &hook)), &[("HOOK_SECRET", SECRET)]);
    hook.says("/hook", Says::status(503));
    opens(&world);
    hook.await_count("/hook", 1);
    hook.says("/hook", Says::status(202));
    await_told(&hook, 2);
    mute(&world, ID);
    await_told(&hook, 3);
    let asked = hook.asked();
    let taken: Vec<_> = asked.iter().filter(|asked| asked.answered == 202).collect();
    assert_eq!(taken.len(), 2, "two findings that open together are one message: {:?}", super::told(&hook));
    let key = STANDARD.decode(SECRET.trim_start_matches("whsec_")).unwrap();
    for message in &asked {
        let header = |name: &str| message.header(name).unwrap().to_owned();
        let mut hmac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        hmac.update(format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).as_bytes());
        hmac.update(&message.body);
        assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(hmac.finalize().into_bytes())));
        assert_eq!(message.header("content-type"), Some("application/json"));
    }
    let id = |message: &crate::world::Asked| message.header("webhook-id").unwrap().to_owned();
    let refused: Vec<_> = asked.iter().filter(|asked| asked.answered == 503).collect();
    assert!(
        refused.iter().all(
            |refused| body(refused)["data"]["alerts"].as_array().unwrap().len() != 2 || id(refused) == id(taken[0])
        )
    );
    assert_ne!(id(taken[0]), id(taken[1]));
    let first = body(taken[0]);
    assert_eq!(
        (&first["type"], &first["data"]["server"]),
        (&"findings.changed".into(), &"https://packages.example.org".into())
    );
    let ids: Vec<_> =
        first["data"]["alerts"].as_array().unwrap().iter().map(|alert| alert["finding"].clone()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&ID.into()) && ids.contains(&OTHER.into()), "{first:#}");
    let said = first["data"]["alerts"].to_string();
    assert!(said.contains("has no effect while `telemetry.access_log` is `off`"), "{said}");
}

#[test]
fn kinds_choose_the_findings_and_an_address_of_a_client_is_told_as_it_is_recorded() {
    let (all, failures) = (taker(), taker());
    let tables =
        format!("{}{}kinds = [\"failure\", \"impact\"]\n", webhook("all", &all), webhook("failures", &failures));
    let settings: &[(&str, &str)] = &[("DAYLIGHT_TELEMETRY_CLIENT_ADDRESSES", "truncated")];
    let world = quiet(&tables, settings);
    // A client asks for the same path without a pause.
    let (anon, path) = (world.anon(), "/repository/gems-private/gems/none-1.0.gem");
    let mut connection = anon.connect().unwrap();
    (0..800).for_each(|_| drop(anon.on(&mut connection, "GET", path, &[], b"").unwrap()));
    at(&world, "12:00:30");
    opens(&world);
    await_true("the client is told", || {
        super::told(&all).iter().any(|told| told.contains("@client:") || told.contains("retry-storm"))
    });
    let told: String = all.asked().iter().map(|asked| String::from_utf8(asked.body.clone()).unwrap()).collect();
    assert!(told.contains("127.0.0.0") && !told.contains("127.0.0.1"), "{told}");
    // The other one is told of failures alone.
    let of_failures = super::told(&failures);
    assert!(!of_failures.iter().any(|told| told.contains("contradictory-settings")), "{of_failures:?}");
    let receivers = super::receivers(&world);
    assert_eq!(receivers[1]["kinds"], serde_json::json!(["failure", "impact"]));
}

/// Every secret of a receiver comes from the environment.
#[test]
fn a_variable_that_is_not_set_is_named_at_the_start() {
    let hook = taker();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{}key_env = \"HOOK_SECRET\"\n", webhook("chat", &hook))).unwrap();
    let output = crate::world::program(&["serve", "--config", file.path().to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("`HOOK_SECRET` is not set"), "{said}");
    assert!(said.contains(":1: ") && said.contains("hint: "), "{said}");
}
