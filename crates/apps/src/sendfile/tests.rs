//! Tests of files that applications name.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A folder with a root in it, files inside and outside, links and a pipe.
struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for folder in ["files/sub", "files2"] {
            std::fs::create_dir_all(tree.path(folder)).unwrap();
        }
        for file in ["files/in.txt", "files/sub/a b%.txt", "outside", "files2/near"] {
            #[expect(clippy::disallowed_methods, reason = "a test makes its files")]
            std::fs::write(tree.path(file), file).unwrap();
        }
        symlink("in.txt", tree.path("files/inside")).unwrap();
        symlink("../outside", tree.path("files/out")).unwrap();
        symlink(tree.path("files/in.txt"), tree.path("files/absolute")).unwrap();
        symlink("..", tree.path("files/up")).unwrap();
        symlink("files", tree.path("current")).unwrap();
        rustix::fs::mkfifoat(CWD, tree.path("files/pipe"), Mode::RUSR).unwrap();
        tree
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn roots(&self, roots: &[&str]) -> Roots {
        let root = |root: &&str| root.replace("DIR", self.0.path().to_str().unwrap());
        Roots::new(&AppOptions { sendfile_roots: roots.iter().map(root).collect(), ..AppOptions::of("a") }).unwrap()
    }

    /// The length of the file that a response names; the error otherwise.
    fn sent(&self, roots: &[&str], line: &str) -> Result<u64, String> {
        let (name, value) = line.split_once(": ").unwrap();
        let value = value.replace("DIR", self.0.path().to_str().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::from_str(&value).unwrap());
        let roots = self.roots(roots);
        let named = roots.named(&mut headers).unwrap();
        assert!(headers.is_empty(), "the header never reaches the client");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(roots.open(named)).map(|file| file.len).map_err(|error| error.to_string())
    }
}

#[test]
fn files_below_a_root_are_sent_and_no_others() {
    let tree = Tree::new();
    for (roots, line, len) in [
        (&["DIR/files"][..], "x-sendfile: DIR/files/in.txt", Some(12)),
        (&["DIR/files/"], "x-sendfile: DIR/files/sub/a b%.txt", Some(18)),
        (&["DIR/files"], "x-sendfile: DIR/files/inside", Some(12)),
        (&["DIR/files"], "x-sendfile: DIR/files/sub/../in.txt", Some(12)),
        (&["DIR/files"], "x-sendfile: DIR/files/../outside", None),
        (&["DIR/files"], "x-sendfile: DIR/files/out", None),
        (&["DIR/files"], "x-sendfile: DIR/files/absolute", None),
        (&["DIR/files"], "x-sendfile: DIR/files/up/outside", None),
        (&["DIR/files"], "x-sendfile: DIR/files2/near", None),
        (&["DIR/files"], "x-sendfile: DIR/outside", None),
        (&["DIR/files"], "x-sendfile: in.txt", None),
        (&["DIR/files"], "x-sendfile: DIR/files", None),
        (&["DIR/files"], "x-sendfile: DIR/files/sub", None),
        (&["DIR/files"], "x-sendfile: DIR/files/pipe", None),
        (&["DIR/files"], "x-sendfile: DIR/files/gone", None),
        (&["DIR/files"], "x-accel-redirect: /private/in.txt", None),
        (&["DIR/current"], "x-sendfile: DIR/current/in.txt", Some(12)),
        (&["DIR/current"], "x-sendfile: DIR/files/in.txt", Some(12)),
        (&["/private=DIR/files"], "x-accel-redirect: /private/in.txt", Some(12)),
        (&["/private/=DIR/files"], "x-accel-redirect: /private/sub/a%20b%25.txt?x=1", Some(18)),
        (&["/private=DIR/files"], "x-accel-redirect: /private/%2e%2e/outside", None),
        (&["/private=DIR/files"], "x-accel-redirect: /private/..%2foutside", None),
        (&["/private=DIR/files"], "x-accel-redirect: /private//etc/passwd", None),
        (&["/private=DIR/files"], "x-accel-redirect: /private/in.txt%00", None),
        (&["/private=DIR/files"], "x-accel-redirect: /private/in.txt%2", None),
        (&["/private=DIR/files"], "x-accel-redirect: /privatein.txt", None),
        (&["/private=DIR/files"], "x-sendfile: DIR/files/in.txt", Some(12)),
    ] {
        let sent = tree.sent(roots, line);
        assert_eq!(sent.clone().ok(), len, "{roots:?} {line}: {sent:?}");
    }
}

#[test]
fn without_roots_nothing_is_read_and_bad_roots_are_refused() {
    let roots = Roots::new(&AppOptions::of("a")).unwrap();
    let mut headers = HeaderMap::new();
    headers.insert("x-sendfile", HeaderValue::from_static("/etc/passwd"));
    assert!(roots.named(&mut headers).is_none() && roots.request_headers().is_empty());
    assert_eq!(headers.len(), 1);
    for root in ["files", "files=/srv", "/files=srv", "", "=/srv", "/a\n=/srv"] {
        let options = AppOptions { sendfile_roots: vec![root.to_owned()], ..AppOptions::of("a") };
        assert!(Roots::new(&options).is_err(), "{root:?}");
    }
}
