//! Connections to scripted servers: the commands, and the use of the replies.

use super::connection::PageConnection;
use super::*;
use crate::{Error, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const REDIS: PageProtocol = PageProtocol::Redis { database: 0 };
const WANT: PageWant = PageWant { limit_bytes: 100, known: None };

const STATS: (&str, &str) = (
    "stats\r\n",
    "STAT pid 7\r\nSTAT uptime 30\r\nSTAT time 130\r\nSTAT pointer_size 64\r\nSTAT version 1.6.18\r\nEND\r\n",
);

/// Greets a server that expects these bytes and gives these replies.
fn greet(
    protocol: PageProtocol,
    credentials: Option<&str>,
    script: &[(&str, &str)],
) -> (Result<PageConnection, Error>, DuplexStream) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (ours, mut theirs) = duplex(1 << 16);
    let secret = credentials.map(|text| Secret::new(text.to_owned()));
    let greeted = runtime.block_on(async {
        let serve = async {
            for (expected, reply) in script {
                let mut read = vec![0; expected.len()];
                theirs.read_exact(&mut read).await.unwrap();
                assert_eq!(String::from_utf8(read).unwrap(), *expected);
                theirs.write_all(reply.as_bytes()).await.unwrap();
            }
        };
        let greet = PageConnection::greet("memcached://a".into(), Box::pin(ours), protocol, secret.as_ref());
        tokio::join!(greet, serve).0
    });
    (greeted, theirs)
}

fn refusal(protocol: PageProtocol, credentials: Option<&str>, script: &[(&str, &str)]) -> String {
    match greet(protocol, credentials, script).0 {
        Err(error) => format!("{}: {error}", error.label()),
        Ok(_) => panic!("it is accepted"),
    }
}

#[test]
fn memcached_is_asked_whether_it_knows_meta_commands() {
    let knows: &[(&str, &str)] = &[("mn\r\n", "MN\r\n"), STATS];
    for (script, first) in [(knows, "mg k v f c OA\r\n"), (&[("mn\r\n", "ERROR\r\n")], "gets k\r\n")] {
        let (greeted, mut theirs) = greet(PageProtocol::Memcached, None, script);
        let mut connection = greeted.unwrap();
        connection.push(PageCommand::Read { key: b"k", early_s: None });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            std::future::poll_fn(|cx| connection.poll_send(cx)).await.unwrap();
            let mut read = vec![0; first.len()];
            theirs.read_exact(&mut read).await.unwrap();
            assert_eq!(String::from_utf8(read).unwrap(), first);
        });
    }
}

#[test]
fn credentials_are_sent_to_a_server_that_asks_for_them_and_a_refusal_does_not_show_them() {
    let proof = ("set daylight 0 0 7\r\nme hush\r\n", "STORED\r\n");
    let asks = ("mn\r\n", "CLIENT_ERROR unauthenticated\r\n");
    greet(PageProtocol::Memcached, Some("me:hush"), &[asks, proof, ("mn\r\n", "MN\r\n"), STATS]).0.unwrap();
    // A server without authentication would store them.
    greet(PageProtocol::Memcached, Some("me:hush"), &[("mn\r\n", "MN\r\n"), STATS]).0.unwrap();
    let script = [asks, (proof.0, "CLIENT_ERROR authentication failure\r\n")];
    let refused = refusal(PageProtocol::Memcached, Some("me:hush"), &script);
    assert_eq!(refused, "page_server_refuses: `memcached://a` refuses: CLIENT_ERROR authentication failure");
    let refused = refusal(PageProtocol::Memcached, None, &[asks]);
    assert!(refused.contains("unauthenticated"), "{refused}");

    let (ping, pong) = ("*1\r\n$4\r\nPING\r\n", "+PONG\r\n");
    let alone = ("*2\r\n$4\r\nAUTH\r\n$4\r\nhush\r\n", "+OK\r\n");
    greet(REDIS, Some("hush"), &[alone, (ping, pong)]).0.unwrap();
    let both = ("*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$5\r\nh:ush\r\n", "+OK\r\n");
    let select = ("*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n", "+OK\r\n");
    greet(PageProtocol::Redis { database: 12 }, Some("me:h:ush"), &[both, select]).0.unwrap();
    let unknown = "-ERR unknown command 'AUTH', with args beginning with: 'hush'\r\n";
    let refused = refusal(REDIS, Some("hush"), &[(alone.0, unknown)]);
    assert_eq!(refused, "page_server_refuses: `memcached://a` refuses: ERR");
    let refused = refusal(REDIS, None, &[(ping, "-NOAUTH Authentication required.\r\n")]);
    assert!(refused.contains("NOAUTH Authentication required."), "{refused}");
}

#[test]
fn a_server_of_another_kind_is_told_apart() {
    let refused = refusal(PageProtocol::Memcached, None, &[("mn\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n")]);
    assert!(refused.starts_with("bad_response"), "{refused}");
    let refused = refusal(PageProtocol::Memcached, None, &[("mn\r\n", "-ERR unknown command 'mn'\r\n")]);
    assert!(refused.starts_with("bad_response"), "{refused}");
    let refused = refusal(REDIS, None, &[("*1\r\n$4\r\nPING\r\n", "ERROR\r\n")]);
    assert!(refused.starts_with("bad_response"), "{refused}");
    let refused = refusal(REDIS, None, &[("*1\r\n$4\r\nPING\r\n", "$-1\r\n")]);
    assert!(refused.starts_with("page_server_refuses"), "{refused}");
}

#[test]
fn commands_are_sent_together_and_the_end_of_the_connection_is_an_error() {
    let (greeted, mut theirs) = greet(PageProtocol::Memcached, None, &[("mn\r\n", "MN\r\n"), STATS]);
    let mut connection = greeted.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        for _ in 0..30 {
            connection.push(PageCommand::Version { key: b"k", early_s: None });
        }
        std::future::poll_fn(|cx| connection.poll_send(cx)).await.unwrap();
        let mut read = [0; 4096];
        let sent = theirs.read(&mut read).await.unwrap();
        assert_eq!(sent, 30 * "mg k c OA\r\n".len());
        theirs.write_all(b"HD c1 OA\r\nEN\r\nHD c").await.unwrap();
        drop(theirs);
        let present = PageReply::Present { version: Some(1), won: false, stale: false };
        assert_eq!(connection.reply(WANT).await.unwrap(), present);
        assert_eq!(connection.reply(WANT).await.unwrap(), PageReply::Missing);
        assert_eq!(connection.reply(WANT).await.unwrap_err().label(), "page_server_broke");
    });
}

#[test]
fn the_process_of_a_memcached_is_known_by_its_start_and_its_number() {
    let instance = |figures: &str| {
        let script = [("mn\r\n", "MN\r\n"), ("stats\r\n", figures)];
        greet(PageProtocol::Memcached, None, &script).0.map(|connection| connection.instance())
    };
    let first = instance(STATS.1).unwrap();
    assert_eq!(first, Some((100 << 22) + 7));
    assert_eq!(
        instance("STAT uptime 31\r\nSTAT time 131\r\nSTAT pointer_size 64\r\nSTAT pid 7\r\nEND\r\n").unwrap(),
        first
    );
    assert_ne!(
        instance("STAT uptime 30\r\nSTAT time 131\r\nSTAT pointer_size 64\r\nSTAT pid 7\r\nEND\r\n").unwrap(),
        first
    );
    assert_ne!(
        instance("STAT uptime 30\r\nSTAT time 130\r\nSTAT pointer_size 64\r\nSTAT pid 8\r\nEND\r\n").unwrap(),
        first
    );
    for figures in [
        "END\r\n",
        "ERROR\r\n",
        "SERVER_ERROR no\r\n",
        "STAT pid 7\r\nSTAT time 130\r\nSTAT pointer_size 64\r\nEND\r\n",
        "STAT pid 7\r\nSTAT uptime 131\r\nSTAT time 130\r\nSTAT pointer_size 64\r\nEND\r\n",
        "STAT pid 7\r\nSTAT uptime 30\r\nSTAT time 129\r\nEND\r\n",
        "STAT pid x\r\nSTAT uptime 30\r\nSTAT time 130\r\nSTAT pointer_size 64\r\nEND\r\n",
    ] {
        assert_eq!(instance(figures).unwrap(), None, "{figures}");
    }
    assert_eq!(instance(&"STAT a 1\r\n".repeat(1001)).unwrap_err().label(), "bad_response");
}
