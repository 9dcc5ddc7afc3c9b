//! Reads of a real memcached.

use super::real::{free_port, memcached};
use super::*;

#[test]
fn an_item_is_read_once_and_then_only_confirmed_until_it_changes() {
    let real = memcached(free_port(), &[]);
    let page = b"<html>\r\nEND\r\n</html>".to_vec();
    real.set("ns:page", &page);
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        let first = item(read(&servers, ask("ns:page")).await);
        assert_eq!((&first.value[..], first.flags, first.won, first.stale), (&page[..], 4, false, false));
        let known = || Ask { known: first.version, ..ask("ns:page") };
        assert_eq!(read(&servers, known()).await, Answer::Unchanged { won: false, stale: false });
        real.set("ns:page", b"other");
        let changed = item(read(&servers, known()).await);
        assert_eq!((&changed.value[..], changed.version.is_some()), (&b"other"[..], true));
        assert_ne!(changed.version, first.version);
        let answers = servers.read(&[ask("none"), known(), ask("ns:page"), ask("none2")]).await;
        assert_eq!((&answers[0], &answers[3]), (&Answer::Missing, &Answer::Missing));
        assert_eq!(answers[1], Answer::Item(changed.clone()));
        assert_eq!(answers[2], Answer::Item(changed));
        assert_eq!(servers.view()[0].busy, 0);
        assert_eq!((servers.view()[0].connections, servers.view()[0].up), (1, true));
    });
}

#[test]
fn values_of_any_length_arrive_whole_and_those_above_the_limit_are_skipped() {
    let real = memcached(free_port(), &["-I", "4m"]);
    let lengths = [0, 1, 2, 500, 32_700, 32_767, 32_768, 73_787, 200_000, 1_000_000, 1_000_001];
    let value = |len: usize| (0..len).map(|at| (at % 251) as u8).collect::<Vec<u8>>();
    for len in lengths {
        real.set(&format!("k{len}"), &value(len));
    }
    on_core(async {
        let servers = servers(&PagesOptions { value_bytes: 1_000_000, ..options(&[real.url()]) });
        for _ in 0..3 {
            let asks: Vec<Ask> = lengths.iter().map(|len| ask(&format!("k{len}"))).collect();
            for (answer, len) in servers.read(&asks).await.into_iter().zip(lengths) {
                match len {
                    1_000_001 => assert!(matches!(answer, Answer::TooLarge { version: Some(_) })),
                    len => assert!(item(answer).value == value(len), "{len}"),
                }
            }
        }
    });
}

#[test]
fn many_reads_at_once_share_a_connection_and_each_gets_its_own_item() {
    let real = memcached(free_port(), &[]);
    for at in 0..50 {
        real.set(&format!("k{at}"), format!("value {at}").repeat(at * 10).as_bytes());
    }
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        for _ in 0..20 {
            let mut tasks = Vec::new();
            for at in 0..60 {
                let servers = servers.clone();
                tasks.push(tokio::task::spawn_local(async move { read(&servers, ask(&format!("k{at}"))).await }));
            }
            for (at, task) in tasks.into_iter().enumerate() {
                match (at < 50, task.await.unwrap()) {
                    (true, answer) => assert_eq!(item(answer).value, format!("value {at}").repeat(at * 10)),
                    (false, answer) => assert_eq!(answer, Answer::Missing),
                }
            }
        }
        assert_eq!(servers.view()[0].connections, 1);
    });
}

#[test]
fn one_reader_wins_the_right_to_write_an_item_that_expires_soon_or_is_stale() {
    let real = memcached(free_port(), &[]);
    assert_eq!(real.tell(b"ms soon 1 T20\r\na\r\nms late 1 T9000\r\na\r\nms old 1 T9000\r\na\r\n", 3), ["HD"; 3]);
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        let early = |key: &str, known| Ask { early_s: Some(30), known, ..ask(key) };
        let first = item(read(&servers, early("soon", None)).await);
        assert!(first.won && !first.stale);
        let known = first.version;
        assert_eq!(read(&servers, early("soon", known)).await, Answer::Unchanged { won: false, stale: false });
        assert!(!item(read(&servers, early("soon", None)).await).won);
        assert!(!item(read(&servers, early("late", None)).await).won);
        // Marking an item as stale changes its version.
        let old = item(read(&servers, ask("old")).await);
        assert_eq!(real.tell(b"md old I T100\r\n", 1), ["HD"]);
        let stale = item(read(&servers, Ask { known: old.version, ..ask("old") }).await);
        assert!(stale.won && stale.stale && stale.version != old.version);
        let known = Ask { known: stale.version, ..ask("old") };
        assert_eq!(read(&servers, known).await, Answer::Unchanged { won: false, stale: true });
    });
}

#[test]
fn keys_lie_where_the_ring_says_and_those_of_a_server_that_is_gone_lie_on_another() {
    let all: Vec<_> = (0..3).map(|_| memcached(free_port(), &[])).collect();
    on_core(async {
        let urls: Vec<String> = all.iter().map(|real| real.url()).collect();
        let servers = servers(&options(&urls));
        let keys: Vec<String> = (0..60).map(|at| format!("k{at}")).collect();
        for (at, real) in all.iter().enumerate() {
            for key in &keys {
                real.set(key, at.to_string().as_bytes());
            }
        }
        let ring_of = |down: Option<usize>| {
            let server = |key: &String| servers.ring.server(key.as_bytes(), |server| Some(server) != down);
            keys.iter().map(|key| server(key).unwrap().to_string()).collect::<Vec<_>>()
        };
        let asks: Vec<Ask> = keys.iter().map(|key| ask(key)).collect();
        let found = |answers: Vec<Answer>| {
            let value = |answer| String::from_utf8(item(answer).value.to_vec()).unwrap();
            answers.into_iter().map(value).collect::<Vec<_>>()
        };
        assert_eq!(found(servers.read(&asks).await), ring_of(None));
        let mut all = all;
        drop(all.remove(1));
        // The read that notices it, too.
        assert_eq!(found(servers.read(&asks).await), ring_of(Some(1)));
        assert!(!servers.view()[1].up);
    });
}

#[test]
fn an_item_of_a_memcached_without_versions_is_read_each_time() {
    let real = memcached(free_port(), &["-C"]);
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        for value in [&b"one"[..], b"two"] {
            real.set("k", value);
            let read = item(read(&servers, ask("k")).await);
            assert_eq!((&read.value[..], read.version), (value, None));
        }
    });
}

#[test]
fn keys_that_memcached_cannot_have_are_missing_and_the_longest_is_found() {
    let real = memcached(free_port(), &[]);
    let longest = "k".repeat(250);
    real.set(&longest, b"1");
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        let longer = format!("{longest}k");
        let wrong = ["", "a b", "a\r\nflush_all", "a\tb", "a\u{7f}", "a\0", &longer].map(ask);
        assert_eq!(servers.read(&wrong).await, [const { Answer::Missing }; 7]);
        assert_eq!(servers.view()[0].connections, 0);
        assert_eq!(item(read(&servers, ask(&longest)).await).value, "1");
        assert_eq!(servers.read(&[]).await, []);
    });
}

#[test]
fn credentials_open_a_memcached_that_wants_them() {
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"me:hush\n").unwrap();
    // memcached reads it as another user.
    std::fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let real = memcached(free_port(), &["-Y", file.path().to_str().unwrap()]);
    let secret = |text: &str| Some(client::Secret::new(text.to_owned()));
    on_core(async {
        let right = servers(&PagesOptions { credentials: secret("me:hush"), ..options(&[real.url()]) });
        assert_eq!(read(&right, ask("a")).await, Answer::Missing);
        for credentials in [secret("me:wrong"), None] {
            let wrong = servers(&PagesOptions { credentials, ..options(&[real.url()]) });
            assert_eq!(read(&wrong, ask("a")).await, Answer::Failed(Trouble::Refused));
            let view = wrong.view().remove(0);
            assert!(!view.up && view.trouble.as_ref().unwrap().contains("CLIENT_ERROR"), "{view:?}");
            assert!(!format!("{wrong:?}").contains("wrong\""));
        }
    });
}

#[test]
fn a_version_of_an_earlier_process_says_nothing_although_the_server_counts_as_before() {
    let port = free_port();
    let real = memcached(port, &[]);
    on_core(async {
        let servers = servers(&options(&[real.url()]));
        real.set("page", b"before");
        let before = item(read(&servers, ask("page")).await);
        drop(real);
        while servers.view()[0].connections > 0 {
            tokio::task::yield_now().await;
        }
        let real = memcached(port, &[]);
        real.set("page", b"after");
        let after = item(read(&servers, Ask { known: before.version, ..ask("page") }).await);
        let (before, now) = (before.version.unwrap(), after.version.unwrap());
        assert_eq!((&after.value[..], before.cas), (&b"after"[..], now.cas));
        assert_ne!(before.instance, now.instance);
    });
}
