//! Poisoning and deception: a list of requests that make caches hand one client's response to another. None does here.

use super::origin::{Heard, Origin, response};
use super::program::Front;
use crate::world::Answer;
use std::io::Write as _;

const LIST: &str = include_str!("poisoning.txt");
const KEEP: &str = "Cache-Control: public, max-age=600";

/// A line of the list.
struct Attack {
    poison: bool,
    name: String,
    first: String,
    second: String,
}

fn attacks() -> Vec<Attack> {
    let blocks = LIST.split("\n\n").filter(|block| block.starts_with("poison") || block.starts_with("deceive"));
    blocks
        .map(|block| {
            let (kind, name) = block.lines().next().unwrap().split_once(": ").unwrap();
            let lines = |mark: &str| -> Vec<String> {
                let lines = block.lines().skip(1).filter_map(|line| line.strip_prefix(mark));
                lines.map(|line| line.strip_prefix(' ').unwrap_or(line).replace("{big}", &"b".repeat(60_000))).collect()
            };
            let (mut first, second) = (lines(">").join("\r\n"), lines("<"));
            if !first.contains("\r\n\r\n") {
                first.push_str("\r\n\r\n");
            }
            let target = second[0].strip_prefix("GET ").unwrap().to_owned();
            Attack { poison: kind == "poison", name: name.to_owned(), first, second: target }
        })
        .collect()
}

/// The application: it believes every header that some framework believes, and reads paths as generously as the most generous one.
fn believes_everything(heard: &Heard) -> Vec<u8> {
    let path = heard.target.replace("%2F", "/").replace("%2e", ".").replace("%3F", "?").replace("%3B", ";");
    let path = path.replace("/evil/..", "").replace("/assets/..", "");
    let session = heard.header("cookie").unwrap_or_default();
    if path.starts_with("/account") {
        return response("200 OK", &["Content-Type: text/html"], format!("the account of {session}").as_bytes());
    }
    if path.starts_with("/sets") {
        let cookie = format!("Set-Cookie: {session}");
        return response("200 OK", &[KEEP, &cookie], format!("the account of {session}").as_bytes());
    }
    // A page of an error that may be kept, as some applications send it.
    let long = heard.headers.iter().any(|(_, value)| value.len() > 20_000);
    if long || heard.header("expect").is_some() || heard.header("if-match").is_some() || heard.header("range").is_some()
    {
        let status = if long { "400 Bad Request" } else { "416 Range Not Satisfiable" };
        return response(status, &[KEEP], b"evil");
    }
    // Known ones aside, an application that believes a header says so in `Vary`.
    let own = ["accept-language", "authorization", "user-agent", "accept"];
    let believed = heard.headers.iter().filter(|(name, _)| {
        let name = name.to_ascii_lowercase();
        !own.contains(&&*name) || heard.target.contains("vary=1") || heard.target.contains("of=authorization")
    });
    let values: Vec<String> = believed.map(|(name, value)| format!("{name}={value}")).collect();
    let body = format!("{} {} {} {}", heard.method, path, values.join("\n"), String::from_utf8_lossy(&heard.body));
    let keep = if heard.target.contains("of=authorization") { "Cache-Control: max-age=600" } else { KEEP };
    response("200 OK", &[keep, "Vary: Accept-Language"], body.as_bytes())
}

fn holds(told: &Answer, word: &str) -> bool {
    let has = |text: &str| text.to_ascii_lowercase().contains(word);
    has(&String::from_utf8_lossy(&told.body)) || told.headers.iter().any(|(_, value)| has(value))
}

#[test]
fn no_request_of_the_list_leaves_anything_for_another_client() {
    let attacks = attacks();
    assert!(attacks.len() > 40, "{}", attacks.len());
    let mut wrong = Vec::new();
    for preset in ["", "preset = \"rails-assets\"\n"] {
        let mut kept = 0;
        let origin = Origin::start(|heard, client| client.write_all(&believes_everything(heard)).map(|()| true));
        let text = format!("[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\n{preset}", origin.url());
        let front = Front::configured(&text);
        for (number, attack) in attacks.iter().enumerate() {
            // A host for each, so that none finds what another one left.
            let host = format!("shop-{number}.example");
            let first = attack.first.replace("shop.example", &host);
            for _ in 0..2 {
                // The reply to an attack may be anything.
                let _ = front.raw(first.as_bytes());
            }
            let ask = || front.ask("GET", &attack.second, &[("Host", &host)], b"");
            let (told, word) = (ask(), if attack.poison { "evil" } else { "private" });
            let failed = attack.poison && told.status != 200;
            if holds(&told, word) || failed {
                wrong.push(format!("{}{}: {} {:?} {}", preset, attack.name, told.status, told.headers, told.text()));
            }
            kept += usize::from(ask().header("cache-status").is_some_and(|status| status.contains("hit")));
            assert_eq!(origin.garbled(), [""; 0], "{}", attack.name);
        }
        // The cache was at work.
        assert!(kept > attacks.len() / 3, "only {kept} pages were kept");
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
