//! Which settings make servers.

use super::*;
use client::Secret;

fn refusal(urls: &[&str], credentials: Option<&str>) -> String {
    let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
    let credentials = credentials.map(|text| Secret::new(text.to_owned()));
    let options = PagesOptions { credentials, ..options(&urls) };
    let error = Servers::new(&"shop".into(), &options, &Recorder::silent(Clock::default())).unwrap_err();
    assert!(!error.hint.is_empty() && error.app == "shop");
    format!("{error} ({})", error.hint)
}

#[test]
fn servers_are_several_of_memcached_or_one_of_redis() {
    for (urls, credentials, why) in [
        (&[][..], None, "it has no server of pages"),
        (&["memcached://a", "redis://b"], None, "not all memcached"),
        (&["redis://a", "redis://b"], None, "not all memcached"),
        (&["memcached://a", "memcached://a:11211?weight=2"], None, "twice"),
        (&["http://a"], None, "`http://a` is not the URL of a server that keeps pages"),
        (&["redis://:hush@a"], None, "it has credentials"),
        (&["memcached://a"], Some("hush"), "have no user"),
        (&["memcached://a"], Some(":hush"), "have no user"),
        (&["redis://a"], Some("hush\n"), "line break"),
    ] {
        let refusal = refusal(urls, credentials);
        assert!(refusal.contains(why) && !refusal.contains("hush"), "{refusal}");
    }
    let many: Vec<String> = (0..65).map(|at| format!("memcached://a{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(refusal(&many, None).contains("more than 64"));
    let urls = many[..64].iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
    let servers = servers(&options(&urls));
    assert_eq!(servers.view().len(), 64);
    assert!(servers.view().iter().all(|view| view.up && view.trouble.is_none() && view.connections == 0));
}
