//! A hub on loopback: it answers with the builds of one tag, and counts the calls.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// What the hub has.
#[derive(Debug)]
pub(super) struct HubState {
    /// The builds in the tag, with the events of their tagging.
    pub(super) builds: Vec<(u32, u64)>,
    pub(super) volume: String,
    pub(super) is_deleted: bool,
    pub(super) has_tag: bool,
    /// The fault that it answers.
    pub(super) fault: Option<(i64, String)>,
    /// The number of questions in each round.
    rounds: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct HubServer {
    pub(super) url: String,
    state: Mutex<HubState>,
    /// Whether answers wait.
    held: Mutex<bool>,
    released: Condvar,
}

impl HubServer {
    /// The thread ends with the process of the test.
    #[expect(clippy::disallowed_methods, reason = "a fake hub, not Daylight's")]
    pub(super) fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/kojihub", listener.local_addr().unwrap());
        let (builds, rounds) = (Vec::new(), Vec::new());
        let volume = "DEFAULT".to_owned();
        let state = HubState { builds, volume, is_deleted: false, has_tag: true, fault: None, rounds };
        let hub = Arc::new(Self { url, state: Mutex::new(state), held: Mutex::default(), released: Condvar::new() });
        let server = hub.clone();
        std::thread::spawn(move || listener.incoming().for_each(|stream| server.serve(stream.unwrap())));
        hub
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut HubState)) {
        change(&mut self.state.lock().unwrap());
    }

    /// Gives no answer until it is released.
    pub(super) fn hold(&self, is: bool) {
        *self.held.lock().unwrap() = is;
        self.released.notify_all();
    }

    /// The number of questions in each round since this was last asked.
    pub(super) fn rounds(&self) -> Vec<usize> {
        std::mem::take(&mut self.state.lock().unwrap().rounds)
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        drop(self.released.wait_while(self.held.lock().unwrap(), |held| *held).unwrap());
        let body = self.state.lock().unwrap().answer(&String::from_utf8(body).unwrap());
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length:";
        let _ = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
    }
}

fn int(number: impl Into<i64>) -> String {
    format!("<value><int>{}</int></value>", number.into())
}

fn text(text: &str) -> String {
    format!("<value><string>{text}</string></value>")
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("<value><array><data>{}</data></array></value>", items.collect::<String>())
}

fn row(members: &[(&str, String)]) -> String {
    let mut row = String::new();
    members.iter().for_each(|(name, value)| write!(row, "<member><name>{name}</name>{value}</member>").unwrap());
    format!("<value><struct>{row}</struct></value>")
}

impl HubState {
    fn answer(&mut self, request: &str) -> String {
        let whole = |inside: &str| format!("<?xml version='1.0'?><methodResponse>{inside}</methodResponse>");
        let mut calls: Vec<&str> = request.split("<name>methodName</name><value><string>").skip(1).collect();
        let is_one = calls.is_empty();
        if is_one {
            calls.extend(request.split("<methodName>").nth(1));
        }
        self.rounds.push(calls.len());
        if let Some((code, words)) = &self.fault {
            let fault = row(&[("faultCode", int(*code)), ("faultString", text(words))]);
            return whole(&format!("<fault>{fault}</fault>"));
        }
        let mut answers = calls.iter().map(|call| self.one(call));
        let value = match is_one {
            true => answers.next().unwrap(),
            false => list(answers.map(|answer| list(std::iter::once(answer)))),
        };
        whole(&format!("<params><param>{value}</param></params>"))
    }

    fn one(&self, call: &str) -> String {
        let first = call.split("<int>").nth(1).and_then(|rest| rest.split('<').next()?.parse::<u32>().ok());
        let builds = || self.builds.iter();
        let tag = || row(&[("id", int(1)), ("name", text("release"))]);
        let last = builds().map(|(_, event)| *event).max().unwrap_or(10);
        let event = |of: u64| int(i64::try_from(of).unwrap());
        match call.split('<').next().unwrap() {
            "getLastEvent" => row(&[("id", event(last)), ("ts", int(1_000 + last as i64))]),
            "listTags" => list(Some(tag()).into_iter().filter(|_| self.has_tag && call.contains("release"))),
            "getTag" if self.has_tag => tag(),
            "getTag" => "<value><nil/></value>".to_owned(),
            "tagChangedSinceEvent" => {
                let changed = builds().any(|(_, event)| first.is_some_and(|first| *event > u64::from(first)));
                format!("<value><boolean>{}</boolean></value>", u8::from(changed))
            }
            "queryHistory" => {
                let listing = |(id, at): &(u32, u64)| {
                    let (created, ts) = (event(*at), int(1_000 + *at as i64));
                    let ids =
                        [("build_id", int(*id)), ("tag_id", int(1)), ("create_event", created), ("create_ts", ts)];
                    row(&ids)
                };
                row(&[("tag_listing", list(builds().map(listing)))])
            }
            "listTaggedArchives" => {
                let archives = list(builds().map(|(id, _)| self.archive(*id)));
                list([archives, list(builds().map(|build| self.tagged(build)))].into_iter())
            }
            "listTagged" => list(builds().map(|build| self.tagged(build))),
            "listArchives" => list(first.map(|id| self.archive(id)).into_iter()),
            "getBuild" => self.tagged(&(first.unwrap(), 0)),
            other => panic!("{other}"),
        }
    }

    fn tagged(&self, (id, at): &(u32, u64)) -> String {
        row(&[
            ("build_id", int(*id)),
            ("name", text("lamp")),
            ("version", text(&id.to_string())),
            ("release", text("1")),
            ("state", int(if self.is_deleted { 2 } else { 1 })),
            ("volume_name", text(&self.volume)),
            ("tag_id", int(1)),
            ("tag_name", text("release")),
            ("create_event", int(*at as i64)),
        ])
    }

    fn archive(&self, id: u32) -> String {
        row(&[
            ("id", int(id)),
            ("build_id", int(id)),
            ("maven_group_id", text("org.example")),
            ("maven_artifact_id", text("lamp")),
            ("maven_version", text(&id.to_string())),
            ("filename", text(&format!("lamp-{id}.jar"))),
            ("size", int(5)),
            ("checksum_type", int(0)),
            ("checksum", text(&"0".repeat(32))),
        ])
    }
}
