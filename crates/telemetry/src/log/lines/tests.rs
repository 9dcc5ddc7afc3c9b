//! A log that stalls or is full affects nothing else, and lost lines are counted.

use super::*;
use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

const LONG: Duration = Duration::from_secs(30);

/// A writer that calls the function for each write.
struct Does<F>(F);

impl<F: FnMut(&[u8]) -> io::Result<usize> + Send> Write for Does<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.0)(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn target(does: impl FnMut(&[u8]) -> io::Result<usize> + Send + 'static) -> Target {
    Target::writer(Box::new(Does(does)))
}

/// Signals that a write began, then hangs until it is released.
fn stalled() -> (Target, Receiver<()>, Sender<()>, Receiver<u8>) {
    let (entered, has_entered) = channel();
    let (go, gone) = channel();
    let (write, written) = channel();
    let does = move |bytes: &[u8]| {
        let _ = entered.send(());
        let _ = gone.recv();
        bytes.iter().try_for_each(|byte| write.send(*byte)).map_err(io::Error::other)?;
        Ok(bytes.len())
    };
    (target(does), has_entered, go, written)
}

fn text(written: impl Iterator<Item = u8>) -> String {
    String::from_utf8(written.collect()).unwrap()
}

#[test]
fn a_stalled_target_drops_what_does_not_fit_counts_it_and_goes_on_later() {
    let (target, has_entered, go, written) = stalled();
    let lines = Lines::start(LinesOptions { name: "test", lines: 3, bytes: 1000 }, target);
    assert!(lines.push("first"));
    has_entered.recv_timeout(LONG).unwrap();
    assert!(lines.push("second\nline") && lines.push("third"));
    assert!(!lines.push("fourth") && !lines.push("fifth"));
    assert_eq!((lines.dropped(), lines.bound().used(), lines.bound().highest()), (2, 3, 3));
    assert!(!lines.flush(Duration::from_millis(1)));
    drop(go);
    assert!(lines.flush(LONG));
    assert!(lines.push("sixth"), "there is space again");
    drop(lines);
    assert_eq!(text(written.iter()), "first\nsecond line\nthird\nsixth\n");
}

#[test]
fn bytes_are_bounded_too() {
    let (target, has_entered, _go, _written) = stalled();
    let lines = Lines::start(LinesOptions { name: "test", lines: 100, bytes: 10 }, target);
    assert!(!lines.push("0123456789"));
    assert!(lines.push("1"));
    has_entered.recv_timeout(LONG).unwrap();
    assert!(lines.push("123456789") && !lines.push(""));
    assert_eq!((lines.dropped(), lines.bound().used()), (2, 2));
}

#[test]
fn a_full_disk_drops_and_counts_and_is_tried_again() {
    let (write, written) = channel();
    let (fill, full) = channel::<bool>();
    let mut is_full = false;
    let disk = target(move |bytes| {
        is_full = full.try_iter().last().unwrap_or(is_full);
        if is_full {
            return Err(ErrorKind::StorageFull.into());
        }
        bytes.iter().try_for_each(|byte| write.send(*byte)).map_err(io::Error::other)?;
        Ok(bytes.len())
    });
    let lines = Lines::start(LinesOptions::default(), disk);
    for (line, is_full) in [("a", false), ("b", true), ("c", true), ("d", false)] {
        fill.send(is_full).unwrap();
        assert!(lines.push(line) && lines.flush(LONG));
    }
    assert_eq!((lines.dropped(), lines.bound().used()), (2, 0));
    drop(lines);
    assert_eq!(text(written.iter()), "a\nd\n");
}

#[test]
fn a_target_that_panics_loses_those_lines_only() {
    let (write, written) = channel();
    let mut panics = true;
    let lines = Lines::start(
        LinesOptions::default(),
        target(move |bytes| {
            if std::mem::take(&mut panics) {
                std::panic::resume_unwind(Box::new("no"));
            }
            bytes.iter().try_for_each(|byte| write.send(*byte)).map_err(io::Error::other)?;
            Ok(bytes.len())
        }),
    );
    assert!(lines.push("a") && lines.flush(LONG) && lines.push("b") && lines.flush(LONG));
    assert_eq!(lines.dropped(), 1);
    drop(lines);
    assert_eq!(text(written.iter()), "b\n");
}

#[test]
fn a_line_torn_by_an_error_ends_before_the_next_and_counts_as_lost() {
    let (write, written) = channel();
    let mut room = 7;
    let mut target = target(move |bytes| {
        let fits = bytes.len().min(room);
        room -= fits;
        if fits == 0 {
            room = 100;
            return Err(ErrorKind::StorageFull.into());
        }
        bytes[..fits].iter().try_for_each(|byte| write.send(*byte)).map_err(io::Error::other)?;
        Ok(fits)
    });
    assert_eq!(target.write_lines(b"one\ntwo and more\nthree\n").unwrap_err().lines, 2);
    target.write_lines(b"four\n").unwrap();
    drop(target);
    assert_eq!(text(written.iter()), "one\ntwo\nfour\n");
}

#[test]
fn many_lines_are_written_in_pieces_that_end_with_a_line() {
    let (write, written) = channel();
    let mut target = target(move |bytes| write.send(bytes.to_vec()).map(|()| bytes.len()).map_err(io::Error::other));
    let long = "x".repeat(100_000);
    let all = format!("{}{long}\n{}", "some line\n".repeat(20_000), "other line\n".repeat(10));
    target.write_lines(all.as_bytes()).unwrap();
    drop(target);
    let pieces: Vec<Vec<u8>> = written.iter().collect();
    assert!(pieces.len() >= 5 && pieces.iter().all(|piece| piece.ends_with(b"\n")));
    assert_eq!(pieces.concat(), all.as_bytes());
}

mod rotation {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn read(folder: &Path) -> Vec<(String, String)> {
        let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut files: Vec<_> =
            entries.map(|entry| (name(&entry), fs::read_to_string(entry.path()).unwrap())).collect();
        files.sort();
        files
    }

    fn file(name: &str, text: &str) -> (String, String) {
        (name.to_owned(), text.to_owned())
    }

    #[test]
    fn files_and_their_number_are_bounded_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut target = Target::file(folder.path().join("log"), 8, 3);
        for line in ["1aa\n", "2bb\n", "3cc\n", "4dd\n", "longer than a file\n", "5ee\n", "6ff\n"] {
            target.write_lines(line.as_bytes()).unwrap();
        }
        assert_eq!(
            read(folder.path()),
            [file("log", "5ee\n6ff\n"), file("log.1", "longer than a file\n"), file("log.2", "3cc\n4dd\n")]
        );
    }

    #[test]
    fn a_restart_goes_on_in_the_same_file_and_ends_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let open = || Target::file(path.clone(), 100, 2);
        open().write_lines(b"one\n").unwrap();
        open().write_lines(b"two\n").unwrap();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"tor").unwrap();
        open().write_lines(b"three\n").unwrap();
        assert_eq!(read(folder.path()), [file("log", "one\ntwo\ntor\nthree\n")]);
    }

    #[test]
    fn keeping_fewer_than_before_removes_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let write = |files, text: &str| {
            let mut target = Target::file(folder.path().join("log"), 2, files);
            text.split_inclusive('\n').for_each(|line| target.write_lines(line.as_bytes()).unwrap());
        };
        write(4, "a\nb\nc\nd\ne\n");
        assert_eq!(read(folder.path()).len(), 4);
        write(2, "f\n");
        assert_eq!(read(folder.path()), [file("log", "f\n"), file("log.1", "e\n")]);
        write(1, "g\n");
        assert_eq!(read(folder.path()), [file("log", "g\n")]);
    }

    #[test]
    fn a_disk_that_is_missing_loses_lines_until_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        let mut target = Target::file(disk.join("logs/log"), 100, 2);
        assert_eq!(target.write_lines(b"a\nb\n").unwrap_err().lines, 2);
        fs::create_dir(&disk).unwrap();
        target.write_lines(b"c\n").unwrap();
        assert_eq!(read(&disk.join("logs")), [file("log", "c\n")]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "somebody removes a file by hand")]
    fn a_great_number_to_keep_costs_nothing_and_a_gap_is_filled() {
        let folder = tempfile::tempdir().unwrap();
        let mut target = Target::file(folder.path().join("log"), 2, usize::MAX);
        ["a\n", "b\n", "c\n"].iter().for_each(|line| target.write_lines(line.as_bytes()).unwrap());
        fs::remove_file(folder.path().join("log.1")).unwrap();
        target.write_lines(b"d\n").unwrap();
        assert_eq!(read(folder.path()), [file("log", "d\n"), file("log.1", "c\n"), file("log.2", "a\n")]);
    }
}
