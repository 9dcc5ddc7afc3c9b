//! `repo show` and `repo accept-index` of a remote repository of gems.

use super::*;

#[test]
fn the_index_of_an_upstream_is_shown_and_one_that_is_held_back_is_accepted() {
    const SHOWN: &str = r#"{"name":"g","format":"gem","kind":"remote","private":false,"remote":{"urls":["http://a"]},
        "index":{"names":12,"looked_at":"T2","proven":"T1","failure":"upstream_invalid",
        "held_back":{"names":6,"since":"T0","accepted":false}}}"#;
    let (url, heard) = server("200 OK", SHOWN);
    let output = execute(&[], &format!("repo show g --server {url}"));
    let shown = "\nupstream: http://a\nindex names: 12\nindex checked: T2\nindex verified: T1\nindex error: upstream_invalid\n\
        index held back: 6 names are missing in it since T0; `daylight repo accept-index g` accepts it\n";
    assert!(output.out.ends_with(shown), "{output:?}");
    heard.join().unwrap();

    const UNASKED: &str = r#"{"name":"g","format":"gem","kind":"remote","private":false}"#;
    let (url, heard) = server("200 OK", UNASKED);
    let output = execute(&[], &format!("repo show g --server {url}"));
    assert!(output.out.ends_with("\nindex: not fetched since the start\n"), "{output:?}");
    heard.join().unwrap();

    const LATER: &str = r#"{"index":{"names":12,"looked_at":"T2","proven":"T1","failure":"upstream_invalid",
        "held_back":{"names":6,"since":"T0","accepted":true}}}"#;
    const NOW: &str = r#"{"index":{"names":12,"looked_at":"T2","proven":"T2","failure":null,"held_back":null}}"#;
    for (answer, said) in [
        (NOW, "accepted: `g` uses the current index of its upstream\n"),
        (LATER, "accepted for `g`; it is used as soon as the upstream answers (upstream_invalid)\n"),
    ] {
        let (url, heard) = server("200 OK", answer);
        let output = execute(&[], &format!("repo accept-index g --server {url}"));
        assert_eq!((output.code, output.err.as_str()), (ExitCode::SUCCESS, said));
        assert_eq!(heard.join().unwrap().0, "POST /api/v1/repositories/g/accept-index HTTP/1.1");
    }
}
