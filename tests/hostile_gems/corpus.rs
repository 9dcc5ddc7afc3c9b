//! The corpus: each gem is harmful in one way, and has its expected answer.

use super::made::{archive, bomb, gem, gzip, header, members, package, packed, spec, with_header};
use tar::EntryType;

/// A gem, its status, and a part of the message.
pub(super) struct Hostile {
    pub(super) what: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) status: u16,
    pub(super) says: &'static str,
}

fn hostile(what: &'static str, bytes: Vec<u8>, status: u16, says: &'static str) -> Hostile {
    Hostile { what, bytes, status, says }
}

/// All of them.
pub(super) fn corpus() -> Vec<Hostile> {
    [bombs(), forgeries(), objects(), archives(), checksums(), compressed(), damaged(), texts()]
        .into_iter()
        .flatten()
        .collect()
}

/// Small files that unpack to large ones.
fn bombs() -> Vec<Hostile> {
    let data = || gzip(b"");
    let mut second = members(&spec(""));
    second[2].1 = bomb(1024);
    let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(","));
    }
    let aliases = "aliases in the YAML gemspec is no longer supported";
    vec![
        hostile("a gemspec of 1 GiB", package(&packed(bomb(1024), data())), 422, "larger than 10485760 bytes"),
        hostile("checksums of 1 GiB", package(&second), 422, "larger than 10485760 bytes"),
        hostile("gzip in gzip", package(&packed(gzip(&bomb(64)), data())), 422, "`metadata.gz` is not UTF-8 text"),
        hostile("a billion laughs", gem(&laughs), 422, aliases),
        hostile("one alias", gem("email: &a x\nhomepage: *a"), 422, aliases),
        hostile("an alias of itself", gem("email: &a [*a]"), 422, aliases),
        hostile(
            "a hundred thousand lists in each other",
            gem(&format!("x: {}", "[".repeat(100_000))),
            422,
            "recursion limit exceeded",
        ),
        hostile("a million values", gem(&format!("x: [{}]", "a,".repeat(1_000_000))), 422, "`metadata.gz` has "),
        hostile("one value of 9 MB", gem(&format!("x: {}", "a".repeat(9_000_000))), 422, "a value that is too long"),
        hostile("a summary of 65 kB", gem(&format!("summary: {}", "a".repeat(65_000))), 403, "`summary`"),
        hostile("a licence of 65 letters", gem(&format!("licenses: [{}]", "a".repeat(65))), 403, "64 characters"),
        hostile(
            "5,000 dependencies",
            gem(&format!("dependencies:\n{}", "- !ruby/object:Gem::Dependency\n  name: a\n".repeat(5000))),
            403,
            "more than 1000 `dependencies`",
        ),
    ]
}

/// Names that would forge lines of an index, or paths.
fn forgeries() -> Vec<Hostile> {
    let letters = "can only include letters, numbers, dashes, periods, and underscores";
    let version = "is not a valid version";
    let dependency = |name: &str| gem(&format!("dependencies:\n- !ruby/object:Gem::Dependency\n  name: \"{name}\"\n"));
    let needs = |op: &str, number: &str| {
        gem(&format!(
            "dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  requirement: !ruby/object:Gem::Requirement\n\
             \x20   requirements:\n    - - \"{op}\"\n      - !ruby/object:Gem::Version\n        version: \"{number}\"\n"
        ))
    };
    let backtrack = format!("version: '{}!'", "1.a".repeat(80));
    vec![
        hostile("a name of two lines", gem("name: \"lamp\\nrack 9.9.9 0123\""), 403, letters),
        hostile("a name with a line break at its end", gem("name: \"lamp\\n\""), 403, letters),
        hostile("a name with a carriage return", gem("name: \"lamp\\rrack\""), 403, letters),
        hostile("a name of two words", gem("name: lamp 9"), 403, letters),
        hostile("a name with a comma", gem("name: 'lamp,rack'"), 403, letters),
        hostile("a name that leaves its folder", gem("name: ../../etc/passwd"), 403, letters),
        hostile("a name that is a folder", gem("name: '..'"), 403, "must include at least one letter"),
        hostile("a name with a NUL", gem("name: \"lamp\\0\""), 403, letters),
        hostile("a name in another alphabet", gem("name: l\u{430}mp"), 403, letters),
        hostile("no name", gem("name: ''"), 403, "can't be blank"),
        hostile("a name of 256 letters", gem(&format!("name: {}", "a".repeat(256))), 403, "too long"),
        hostile("a name of numbers", gem("name: '12.3'"), 403, "at least one letter"),
        hostile("a name that ends like a file", gem("name: lamp.gem"), 403, "can not end with"),
        hostile("a name that ends like a gemspec", gem("name: lamp.gemspec"), 403, "can not end with"),
        hostile("a name that is an option", gem("name: -lamp"), 403, "can not begin"),
        hostile("a version of two lines", gem("version: \"1.0\\n2.0\""), 422, version),
        hostile("a version with a space", gem("version: '1.0 2.0'"), 422, version),
        hostile("a version that is a path", gem("version: '../1'"), 422, version),
        hostile("a version with a platform in it", gem("version: 1.0-java"), 422, version),
        hostile("a version that no regular expression ends on", gem(&backtrack), 422, version),
        hostile("a version of 300 characters", gem(&format!("version: '1.{}'", "1".repeat(300))), 422, version),
        hostile("a platform that is a path", gem("platform: '../x'"), 403, "is not a valid platform"),
        hostile("a platform of two lines", gem("platform: \"java\\nrack 9\""), 403, "is not a valid platform"),
        hostile("the platform of the reading machine", gem("platform: current"), 409, "malformed platform attributes"),
        hostile("two platforms", gem("platform: ruby\nnew_platform: java"), 409, "malformed platform attributes"),
        hostile("a dependency that is a line", dependency("a:>= 0|checksum:x"), 403, letters),
        hostile("a dependency of two lines", dependency("a\\n---"), 403, letters),
        hostile("an operator that is another dependency", needs(">= 0,b:>=", "1"), 403, "is not a valid requirement"),
        hostile("a requirement that ends the list", needs(">=", "1|x"), 422, version),
        hostile("a requirement of two lines", needs(">=", "1\\n2"), 422, version),
    ]
}

/// YAML from which a careless parser would create objects, or that parsers read differently.
fn objects() -> Vec<Hostile> {
    let tag = "is not allowed in a gem";
    let exploit = "x: !ruby/object:Gem::Installer\n  i: !ruby/object:Gem::Package::TarReader\n    io: id";
    let renamed = format!("%TAG !x! !ruby/object:\n{}", spec("x: !x!OpenStruct {}"));
    vec![
        hostile("an object of another class", gem("x: !ruby/object:OpenStruct {a: b}"), 422, tag),
        hostile("a chain of objects that runs a command", gem(exploit), 422, tag),
        hostile("a hash of another class", gem("x: !ruby/hash:ActionDispatch::Routing {a: b}"), 422, tag),
        hostile("an exception", gem("x: !ruby/exception:E {a: b}"), 422, tag),
        hostile("a symbol by tag", gem("x: !ruby/sym a"), 422, tag),
        hostile("a tag under another name", package(&members(&renamed)), 422, "`%TAG`"),
        hostile("a name in base64 that is two lines", gem("name: !binary |-\n  bGFtcApyYWNr"), 403, "the gem name"),
        hostile("base64 that is no text", gem("summary: !binary /w=="), 422, "UTF-8 text in base64"),
        hostile("a key in base64 that is there already", gem("? !binary bmFtZQ==\n: rack"), 422, "`name` twice"),
        hostile("two names", gem("name: lamp\nname: rack"), 422, "the key `name` twice"),
        hostile("a merge", gem("<<: {name: rack}"), 422, "a key that is not a text"),
        hostile("two documents", package(&members(&(spec("") + "--- {}\n"))), 422, "a second document"),
        hostile("a name that Ruby reads as a boolean", gem("name: yes"), 422, "in quotes"),
        hostile("a list of names", gem("name: [a, b]"), 422, "`name` of the gemspec must be a text"),
        hostile("a mapping that is no gemspec", package(&members("---\nname: lamp\n")), 422, "`Gem::Specification`"),
        hostile("nothing", package(&members("")), 422, "it is empty"),
        hostile("Marshal", package(&packed(gzip(b"\x04\x08u:\x17Gem::Specification"), gzip(b""))), 422, "metadata.gz"),
    ]
}

/// Tar archives that two readers read differently.
fn archives() -> Vec<Hostile> {
    let twice = |name: &str| {
        let mut all = members(&spec(""));
        all.push((if name == "data.tar.gz" { "data.tar.gz" } else { "metadata.gz" }, gzip(b"other")));
        package(&all)
    };
    let without = |at: usize| {
        let mut all = members(&spec(""));
        all.remove(at);
        package(&all)
    };
    let and = |name: &'static str| {
        let mut all = members(&spec(""));
        all.push((name, b"x".to_vec()));
        package(&all)
    };
    let kind = |kind: EntryType| with_header(|header| header.set_entry_type(kind));
    let size = |size: [u8; 12]| with_header(|header| header.as_old_mut().size = size);
    let damaged = "damaged or unsupported tar header";
    vec![
        hostile("two gemspecs", twice("metadata.gz"), 422, "the member `metadata.gz` twice"),
        hostile("two contents", twice("data.tar.gz"), 422, "the member `data.tar.gz` twice"),
        hostile("no gemspec", without(0), 422, "no `metadata.gz`"),
        hostile("no content", without(1), 422, "no `data.tar.gz`"),
        hostile("no checksums", without(2), 422, "no `checksums.yaml.gz`"),
        hostile("a member that gems do not have", and("evil.sh"), 422, "an unknown member `evil.sh`"),
        hostile("a member in a folder above", and("../../evil"), 422, "an unknown member"),
        hostile("a member at the root", and("/etc/passwd"), 422, "an unknown member"),
        hostile("a gemspec in a folder", and("./metadata.gz"), 422, "an unknown member"),
        hostile("an uncompressed gemspec", and("metadata"), 422, "RubyGems before 1.0"),
        hostile("a symlink", kind(EntryType::Symlink), 422, "is not a regular file"),
        hostile("a hard link", kind(EntryType::Link), 422, "is not a regular file"),
        hostile("a device", kind(EntryType::Block), 422, "is not a regular file"),
        hostile("a folder", kind(EntryType::Directory), 422, "is not a regular file"),
        hostile("a long name of GNU's", kind(EntryType::GNULongName), 422, damaged),
        hostile("a sparse file of GNU's", kind(EntryType::GNUSparse), 422, damaged),
        hostile("a header of PAX's", kind(EntryType::XHeader), 422, damaged),
        hostile("a header of PAX's for all", kind(EntryType::XGlobalHeader), 422, damaged),
        hostile("a size below zero", size(*b"-0000000001\0"), 422, damaged),
        hostile("a size below zero in base 256", size([0xff; 12]), 422, damaged),
        hostile("a size of 8 GiB", size(*b"77777777777\0"), 422, "larger than 10485760 bytes"),
        hostile("a size in base 256", size(*b"\x80\0\0\0\0\0\0\x7f\xff\xff\xff\xff"), 422, damaged),
        hostile("a size that is no number", size(*b"lots of it\0\0"), 422, damaged),
        hostile("a size of nothing, and bytes", size(*b"00000000000\0"), 422, damaged),
        hostile(
            "content of 8 GiB that is not there",
            archive(&[header("data.tar.gz", 0o77_777_777_777)], &[b"x"]),
            422,
            "cut short: it ends within `data.tar.gz`",
        ),
        hostile("a gemspec of 11 MB", package(&vec![("metadata.gz", vec![0; 11 << 20])]), 422, "larger than 10485760"),
        hostile("a signature of 11 MB", and_signature(11 << 20), 422, "larger than 10485760"),
        hostile("signatures without certificates", and_signature(10), 422, "signed only in part"),
        hostile("certificates without signatures", gem("cert_chain: [x]"), 403, "has no signatures"),
    ]
}

fn and_signature(bytes: usize) -> Vec<u8> {
    let mut all = members(&spec(""));
    all.push(("metadata.gz.sig", vec![b'x'; bytes]));
    package(&all)
}

/// Checksums that are not those of the members.
fn checksums() -> Vec<Hostile> {
    let given = |sums: &str| {
        let mut all = members(&spec(""));
        all[2].1 = gzip(sums.as_bytes());
        package(&all)
    };
    let zeros = "0".repeat(64);
    let wrong = format!("SHA256:\n  metadata.gz: '{zeros}'\n  data.tar.gz: '{zeros}'\n");
    vec![
        hostile("wrong checksums", given(&wrong), 422, "checksum of `metadata.gz` does not match"),
        hostile("a checksum of another file", given("SHA256:\n  x: y\n"), 422, "a checksum for `x`"),
        hostile("checksums of nothing", given("SHA256: {}\n"), 422, "no SHA256 or SHA512 checksum"),
        hostile("checksums that prove nothing", given("SHA1:\n  metadata.gz: x\n"), 422, "no SHA256 or SHA512"),
        hostile("checksums that are a list", given("- a\n"), 422, "does not map algorithms"),
        hostile("checksums that are an object", given("--- !ruby/object:OpenStruct {}\n"), 422, "is not allowed"),
        hostile("checksums with an alias", given("SHA256: &a {metadata.gz: x}\nSHA512: *a\n"), 422, "aliases"),
    ]
}

/// gzip files with more than one stream.
fn compressed() -> Vec<Hostile> {
    let fine = gzip(spec("").as_bytes());
    let made = |metadata: Vec<u8>| package(&packed(metadata, gzip(b"")));
    let bad = "`metadata.gz` is not a valid gzip file";
    let mut broken = fine.clone();
    let crc = broken.len() - 6;
    broken[crc] ^= 1;
    vec![
        hostile("two gzip streams", made([&*fine, &*fine].concat()), 422, bad),
        hostile("a byte behind gzip", made([&*fine, b"x"].concat()), 422, bad),
        hostile("half of gzip", made(fine[..fine.len() / 2].to_vec()), 422, bad),
        hostile("gzip with a wrong checksum", made(broken), 422, bad),
        hostile("no gzip", made(spec("").into_bytes()), 422, bad),
        hostile("no bytes", made(Vec::new()), 422, bad),
        hostile("gzip of no text", made(gzip(b"\xff\xfe")), 422, "is not UTF-8 text"),
    ]
}

/// Incomplete files, or files with additional bytes.
fn damaged() -> Vec<Hostile> {
    let whole = gem("");
    vec![
        hostile("nothing at all", Vec::new(), 422, "this is not a gem"),
        hostile("a gemspec", spec("").into_bytes(), 422, "this is not a gem"),
        hostile("the first block", whole[..512].to_vec(), 422, "the package is cut short"),
        hostile("half a gem", whole[..whole.len() / 2].to_vec(), 422, "the package is cut short"),
        hostile("a gem without its end", whole[..whole.len() - 1024].to_vec(), 422, "the package is cut short"),
        hostile("a gem and a byte", [&*whole, b"x"].concat(), 422, "bytes after its end"),
        hostile("two gems", whole.repeat(2), 422, "bytes after its end"),
        hostile("a packed gem", gzip(&whole), 422, "this is not a gem"),
    ]
}

/// Texts that harm their readers.
fn texts() -> Vec<Hostile> {
    let control = "has control characters";
    vec![
        hostile("a summary that drives the terminal", gem("summary: \"\\e]0;owned\\a\""), 403, control),
        hostile("an author with a backspace", gem("authors: [\"Ann\\b\\b\\bEve\"]"), 403, control),
        hostile("a description with a NUL", gem("description: \"a\\0b\""), 403, control),
        hostile("a homepage with a control character of C1", gem("homepage: \"a\\u009bb\""), 403, control),
        hostile("metadata that drives the terminal", gem("metadata: {a: \"\\e[2J\"}"), 403, control),
        hostile("a link that runs a script", gem("metadata: {wiki_uri: 'javascript:x'}"), 403, "`wiki_uri` must be"),
        hostile("a link of two lines", gem("metadata: {bug_tracker_uri: \"http://a\\nb\"}"), 403, "must be an http"),
        hostile("no summary", gem("summary:"), 403, "no `summary`"),
        hostile("no author", gem("authors: []"), 403, "no `authors`"),
    ]
}
