//! Saved indexes with a part that cannot be decoded, as a program with a faulty encoder wrote them: their digests are
//! right.

use super::{FILES, GROUP, decoded};
use crate::ropes::grown;
use crate::world::{FIRST, Gem, World};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const REMOTE: &str = "mirror";
/// The length of a digest, of the field with the length of the head, and of a piece of a log.
const DIGEST: usize = 32;
const FIELD: usize = 4;
const PIECE: usize = 64 << 10;
/// The end that is cut off: more than a sync flush.
const CUT: usize = 12;

/// The saved indexes with compressed parts.
fn saved(world: &World) -> Vec<PathBuf> {
    let is_index = |path: &PathBuf| path.iter().any(|part| part == "indexes") && !path.ends_with("upstream_file");
    world.files().into_iter().filter(is_index).collect()
}

/// Cuts the end of the first compressed part off.
fn cut(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    let (field, rest) = bytes[DIGEST..].split_at(FIELD);
    let (head, body) = rest.split_at(u32::from_le_bytes(field.try_into().unwrap()) as usize);
    let (mut head, mut body): (Value, _) = (serde_json::from_slice(head).unwrap(), body.to_vec());
    let of_a_log = head["pieces"][0].is_u64();
    let length = match (head.get("chunks").is_some(), of_a_log) {
        (true, _) => &mut head["chunks"][0]["files"][0][0],
        (false, true) => &mut head["pieces"][0],
        (false, false) => &mut head["pieces"][0][0],
    };
    let left = length.as_u64().unwrap() as usize - CUT;
    *length = json!(left);
    // The pieces of a log are saved in both forms.
    let end = if of_a_log { PIECE + left } else { left };
    body.drain(end..end + CUT);
    let head = serde_json::to_vec(&head).unwrap();
    let content = [&(head.len() as u32).to_le_bytes(), &head[..], &body].concat();
    std::fs::write(path, [&Sha256::digest(&content)[..], &content].concat()).unwrap();
}

fn cut_all(world: &World) -> usize {
    let files = saved(world);
    files.iter().for_each(|path| cut(path));
    files.len()
}

/// All files of all repositories: their lines, and of `/versions` the last line of each name.
fn everything(world: &World) -> BTreeMap<String, Vec<u8>> {
    let one = |(repository, file): (&str, &str)| {
        let mut content = decoded(&world.anon(), repository, file);
        if file == "versions" {
            let lines = std::str::from_utf8(&content).unwrap().lines().skip_while(|line| *line != "---").skip(1);
            let last: BTreeMap<_, _> = lines.map(|line| line.split_once(' ').unwrap()).collect();
            content = format!("{last:#?}").into_bytes();
        }
        (format!("{repository}/{file}"), content)
    };
    let all = [FIRST, REMOTE, GROUP].into_iter().flat_map(|repository| FILES.map(|file| (repository, file)));
    all.map(one).collect()
}

#[test]
fn indexes_that_a_faulty_encoder_saved_are_found_and_made_again_and_answer_at_once() {
    let (upstream, mut world) = (grown(), grown());
    world.remote_of("gem", REMOTE, &upstream.url(FIRST));
    world.gem_group(GROUP, &[FIRST, REMOTE]);
    let before = everything(&world);
    world.stop();
    let mut names: Vec<String> =
        saved(&world).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(
        names,
        ["names", "names", "names", "specs", "specs", "specs", "upstream_pieces", "versions", "view"],
        "of a hosted repository, a remote one and a group"
    );
    assert!(world.run("check").status.success());

    let many = cut_all(&world);
    let check = world.run("check");
    let (out, err) = (String::from_utf8(check.stdout).unwrap(), String::from_utf8(check.stderr).unwrap());
    assert!(!check.status.success() && err.contains("hint: the server makes damaged indexes again"), "{err}");
    assert_eq!(out.matches("is damaged: its content cannot be decoded").count(), many, "{out}");
    world.resume();
    assert!(everything(&world) == before, "at once");
    assert_eq!(world.log().matches("a saved index is damaged and is made again").count(), many);
    world.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    let after = everything(&world);
    assert!(after[&format!("{GROUP}/names")].windows(5).any(|line| line == b"\noil\n"));
    world.stop();
    assert!(world.run("check").status.success(), "it saved them again");

    let many = cut_all(&world);
    let rebuild = world.run("rebuild");
    let out = String::from_utf8(rebuild.stdout).unwrap();
    assert!(rebuild.status.success() && out.matches("the server makes it again").count() == many, "{out}");
    assert!(world.run("check").status.success());
    world.resume();
    assert!(everything(&world) == after, "after a rebuild");
}
