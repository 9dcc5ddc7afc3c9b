//! A request for a file, and further requests for it in other forms, none of which may reveal more than the first.

use super::Trial;
use super::steps::{Form, Look, NAMES, Place, REMOTE};
use super::time;
use crate::world::{Answer, Upstream, hex};
use sha1::{Digest, Sha1};
use std::collections::BTreeSet;

/// Number of bytes of a range request.
const PART: usize = 4;

impl Trial<'_> {
    /// The URL of a file, without its host.
    fn url(&self, look: Look, path: &str) -> String {
        let when = self.when(look);
        let past = if when.at < when.now { format!("@{}", time::text(when.at)) } else { String::new() };
        format!("/repository/{}{past}/{path}", self.name(look.repository))
    }

    fn get(&self, method: &str, url: &str, headers: &[(&str, &str)]) -> Answer {
        self.stage.world.anon().ask(method, url, headers, b"")
    }

    /// The remote repositories that may be asked for files of an artifact, or of one of its versions.
    pub(super) fn asked(&self, repository: usize, artifact: usize, version: Option<usize>) -> Vec<usize> {
        let members = self.members(repository).into_iter().filter(|(at, _)| REMOTE.contains(at));
        let open = members.filter(|(_, layers)| {
            let forbidden = |layer: &usize| match version {
                Some(version) => self.policies[*layer].forbids((artifact, version), true),
                None => self.policies[*layer].is_private(artifact),
            };
            !self.is_kept_from(repository, layers, artifact) && !layers.iter().any(forbidden)
        });
        open.map(|(at, _)| at).collect()
    }

    /// Requests a file, and checks that only these upstreams are called.
    pub(super) fn fetch(&mut self, look: Look, path: &str, asked: &[usize]) -> Answer {
        let barred: Vec<&Upstream> =
            REMOTE.filter(|at| !asked.contains(at)).map(|at| &self.stage.upstreams[at - REMOTE.start]).collect();
        let total = || barred.iter().map(|upstream| upstream.count_of("/org/")).sum::<usize>();
        let before = total();
        let url = self.url(look, path);
        let answer = self.get("GET", &url, &[]);
        // A call that lost a race may reach its upstream a little later.
        assert!(!self.quiet || total() == before, "an upstream was asked for {url} that is none of {asked:?}");
        self.quiet &= asked.len() < 2;
        answer
    }

    /// Repeats the request in another form: a refused file is refused in every form, and an answer is the same in each.
    /// `sums`: the possible checksums of an immutable file at the path.
    pub(super) fn again(&mut self, look: Look, path: &str, answer: &Answer, sums: Option<&BTreeSet<String>>) {
        let url = self.url(look, path);
        let told = |other: &Answer| {
            format!("{:?} {url}: {} {:?}", look.form, other.status, String::from_utf8_lossy(&other.body))
        };
        let tag = answer.header("etag").filter(|_| answer.status == 200).map(str::to_owned);
        match look.form {
            Form::Sum => {
                let sum = self.get("GET", &format!("{url}.sha1"), &[]);
                let is = (answer.status == 200).then(|| hex(&Sha1::digest(&answer.body)));
                match (sum.status, sums, is) {
                    (200, Some(_), Some(is)) => assert_eq!(sum.text(), is, "{}", told(&sum)),
                    (200, Some(sums), None) => assert!(sums.contains(sum.text()), "{}", told(&sum)),
                    // An aging file is refreshed after the answer, and the next answer has the new bytes.
                    (200, None, Some(is)) if sum.text() != is => {
                        let next = self.get("GET", &url, &[]);
                        assert_eq!(sum.text(), hex(&Sha1::digest(&next.body)), "{}", told(&sum));
                    }
                    (status, Some(_), None) => assert_ne!(status, 200),
                    (status, ..) => assert_eq!(status, answer.status, "{}", told(&sum)),
                }
            }
            Form::Head => {
                let head = self.get("HEAD", &url, &[]);
                assert_eq!(head.status, answer.status, "{}", told(&head));
                let length = head.header("content-length").map(|length| length.parse().unwrap());
                assert!(head.status != 200 || length.is_none_or(|length: usize| length == answer.body.len()));
            }
            Form::Tagged => {
                let current = tag.clone();
                for tag in self.tags.get(&url).into_iter().chain(&tag).cloned().collect::<BTreeSet<String>>() {
                    let other = self.get("GET", &url, &[("If-None-Match", &tag)]);
                    let same = current.as_ref() == Some(&tag);
                    let expected = if same { 304 } else { answer.status };
                    assert_eq!(other.status, expected, "{}", told(&other));
                }
            }
            Form::Part => {
                let part = self.get("GET", &url, &[("Range", &format!("bytes=0-{}", PART - 1))]);
                let expected = if answer.status == 200 { 206 } else { answer.status };
                assert_eq!(part.status, expected, "{}", told(&part));
                assert!(expected != 206 || part.body == answer.body[..PART], "{}", told(&part));
            }
        }
        if let Some(tag) = tag {
            self.tags.insert(url, tag);
        }
    }

    /// All requests that can reveal a version.
    pub(super) fn everywhere(&mut self, place: Place, form: Form) {
        for repository in (0..NAMES.len()).rev() {
            let look = Look { repository, form, past: None };
            self.read(look, place);
            self.versions(look, place.artifact);
        }
    }
}
