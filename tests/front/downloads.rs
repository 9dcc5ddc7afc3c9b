//! Downloads: ranges of what the application sends, and files that it has sent by the front, inside its folders only.

use super::origin::Origin;
use super::program::Front;
use super::rack::Rack;
use crate::world::write;
use std::io::Write as _;

fn noise(length: usize) -> Vec<u8> {
    (0..length as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// A front with a folder whose files the application may have sent, and a file beside it that nobody may have.
fn with_files(rack: &Rack) -> (Front, Vec<u8>) {
    let (root, bytes) = (rack.folder.path().join("files"), noise(3_000_000));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("film"), &bytes).unwrap();
    write(&rack.folder.path().join("secret"), "nobody may have this");
    std::os::unix::fs::symlink(rack.folder.path().join("secret"), root.join("link")).unwrap();
    let text = format!(
        "[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = \"{}\"\nsendfile_roots = [\"{}\"]\n",
        rack.url(),
        root.display()
    );
    (Front::configured(&text), bytes)
}

#[test]
fn a_file_of_the_application_is_sent_by_the_front_whole_and_in_part() {
    let rack = Rack::unicorn(1);
    let (front, bytes) = with_files(&rack);
    let target = format!("/file?path={}/files/film", rack.folder.path().display());
    let whole = front.get(&target).expect(200);
    assert!(whole.body == bytes);
    assert_eq!((whole.header("x-sendfile"), whole.header("content-type")), (None, Some("text/plain")));
    let part = front.ask("GET", &target, &[("Range", "bytes=1000000-1999999")], b"").expect(206);
    assert!(part.body == bytes[1_000_000..2_000_000]);
    assert_eq!(part.header("content-range"), Some("bytes 1000000-1999999/3000000"));
    front.ask("GET", &target, &[("Range", "bytes=3000000-")], b"").expect(416);
    // The worker said a header only.
    let noted = rack.folder.noted();
    assert!(noted.iter().any(|work| work["closed"].is_number()));
}

#[test]
fn a_file_outside_the_folders_is_never_sent() {
    let rack = Rack::unicorn(1);
    let (front, _) = with_files(&rack);
    let folder = rack.folder.path().display();
    for path in [
        format!("{folder}/secret"),
        format!("{folder}/files/../secret"),
        format!("{folder}/files/./../secret"),
        format!("{folder}/files/link"),
        format!("{folder}/files%2f..%2fsecret"),
        format!("{folder}/files"),
        format!("{folder}/filesystem"),
        "/etc/hostname".to_owned(),
        "secret".to_owned(),
        "../secret".to_owned(),
        format!("{folder}/files/gone"),
    ] {
        let told = front.get(&format!("/file?path={path}"));
        assert!(told.status >= 400, "{path}: {}", told.status);
        assert!(!told.text().contains("nobody may have this"), "{path}");
    }
}

#[test]
fn a_range_that_the_application_answers_itself_is_passed_through_as_it_is() {
    let origin = Origin::start(|heard, client| {
        assert_eq!(heard.header("range").as_deref(), Some("bytes=2-4"));
        assert_eq!(heard.header("if-range").as_deref(), Some("\"1\""));
        let lines = "Content-Range: bytes 2-4/10\r\nETag: \"1\"\r\nContent-Length: 3\r\n";
        client.write_all(format!("HTTP/1.1 206 Partial Content\r\n{lines}\r\ncde").as_bytes()).map(|()| true)
    });
    let front = Front::to(&[&origin.url()]);
    let told = front.ask("GET", "/film", &[("Range", "bytes=2-4"), ("If-Range", "\"1\"")], b"").expect(206);
    assert_eq!((told.text(), told.header("content-range")), ("cde", Some("bytes 2-4/10")));
}
