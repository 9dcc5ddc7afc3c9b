//! The bytes of a stand-in never reach a client, however the socket is written to; and no client monopolizes its core.

use super::*;
use crate::body::delivery::Delivery;
use crate::body::file_threads::FileThreads;
use crate::body::sendfile::{FilePart, TURN};
use proptest::prelude::*;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use telemetry::{Clock, Recorder, RecorderOptions};
use tokio::net::TcpStream;

/// Neither zero, as in a stand-in, nor a byte of the heads used here.
const FILE: &[u8] = &[b'f'; 3 << 20];

fn part(from: u64, len: u64) -> Rc<FilePart> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(FILE).unwrap();
    FilePart::new(
        std::sync::Arc::new(file),
        from,
        len,
        Rc::new(Delivery::default()),
        FileThreads::new(4, &Recorder::silent(Clock::default())),
    )
}

/// What the client receives of the bytes that `work` writes.
fn received(work: impl AsyncFnOnce(Socket, Rc<ConnectionState>)) -> Vec<u8> {
    let records = RecorderOptions { buffered_events: 10, ..RecorderOptions::of(Clock::default()) };
    let recorder: Arc<Recorder> = Recorder::start(records, Vec::new());
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    socket.listen(1).unwrap();
    let to = socket.local_addr().unwrap();
    let client = std::thread::spawn(move || {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.connect(&to).unwrap();
        let mut all = Vec::new();
        std::net::TcpStream::from(socket).read_to_end(&mut all).unwrap();
        all
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = socket.accept().unwrap().0;
        stream.set_nonblocking(true).unwrap();
        let state = Rc::new(ConnectionState::new(recorder.clone()));
        let stream = Rc::new(Transport::Plain(TcpStream::from_std(stream.into()).unwrap()));
        work(Socket::new(stream, state.clone(), Vec::new()), state).await;
    });
    let received = client.join().unwrap();
    recorder.stop(std::time::Duration::from_secs(20));
    received
}

async fn write(client_socket: &mut Socket, slices: &[&[u8]]) -> io::Result<usize> {
    let slices: Vec<_> = slices.iter().map(|slice| IoSlice::new(slice)).collect();
    std::future::poll_fn(|cx| Pin::new(&mut *client_socket).poll_write_vectored(cx, &slices)).await
}

#[test]
fn a_stand_in_without_its_file_is_an_error_and_no_byte() {
    let all = received(async |mut client_socket, state| {
        let (unknown, gone) = (part(0, 100), part(0, 100));
        assert!(write(&mut client_socket, &[unknown.stand_in()]).await.is_err());
        assert!(write(&mut client_socket, &[b"head", unknown.stand_in()]).await.is_err());
        assert!(write(&mut client_socket, &[&unknown.stand_in()[99..]]).await.is_err());
        let plain = std::future::poll_fn(|cx| Pin::new(&mut client_socket).poll_write(cx, unknown.stand_in())).await;
        assert!(plain.is_err());
        state.show_file(&gone);
        let shown = gone.stand_in();
        drop(gone);
        assert!(write(&mut client_socket, &[shown]).await.is_err());
    });
    assert_eq!(all, b"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Acts as hyper does: advances by the bytes that were written, shows a stand-in for the rest again, and writes
    /// memory between two parts.
    #[test]
    fn parts_and_memory_come_in_order_and_nothing_else_does(
        parts in proptest::collection::vec((0_u64..1 << 20, 1_u64..2 << 20, 0_usize..200), 1..5)
    ) {
        let (mut taken, mut expected) = (0, Vec::new());
        for (_, len, head) in &parts {
            expected.extend(std::iter::repeat_n(b'h', *head));
            expected.extend(&FILE[..usize::try_from(*len).unwrap()]);
        }
        let all = received(async |mut client_socket, state| {
            for (from, len, head) in parts {
                let (part, mut head) = (part(from, len), vec![b'h'; head]);
                state.show_file(&part);
                while part.left() > 0 {
                    state.begin_turn();
                    let slices = [&head[..], part.stand_in(), b"after"];
                    let wrote = write(&mut client_socket, if head.is_empty() { &slices[1..2] } else { &slices }).await.unwrap();
                    taken += wrote;
                    let of_head = wrote.min(head.len());
                    head.drain(..of_head);
                    part.advance(wrote - of_head);
                }
            }
        });
        prop_assert_eq!(taken, expected.len());
        prop_assert!(all == expected, "{} bytes came", all.len());
    }
}

#[test]
fn a_turn_of_a_connection_ends_after_a_megabyte_though_its_client_takes_more() {
    let (piece, all) = (vec![b'p'; 64 << 10], 8 << 20);
    let came = received(async |mut client_socket, state| {
        let mut wrote = 0;
        while wrote < all {
            state.begin_turn();
            let before = wrote;
            std::future::poll_fn(|cx| {
                while wrote < all {
                    let write = Pin::new(&mut client_socket).poll_write(cx, &piece);
                    let Poll::Ready(more) = write else { return Poll::Ready(()) };
                    wrote += more.unwrap();
                }
                Poll::Ready(())
            })
            .await;
            assert!(wrote - before < TURN + piece.len());
            tokio::task::yield_now().await;
        }
    });
    assert!(came.len() >= all);
}
