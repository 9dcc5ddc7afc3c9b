//! Groups of gems at full size: the cost of each kind of change for the server and for readers of `/versions`, the memory of
//! groups, and an installation with Bundler compared with the same files on nginx.

mod kit;
mod reader;
mod relay;
mod shop;
mod upstream;

use crate::corpus::GEMS;
use crate::gem::Gem;
use crate::http::Connection;
use crate::process::{Server, load_average};
use crate::spread::Spread;
use anyhow::{Result, ensure};
use kit::{Kit, Machine};
use reader::{News, Reader};
use relay::Relay;
use serde_json::json;
use shop::{HOSTED, HOSTED_GEMS, PAID, PAID_GEMS, PUBLIC, Shop};
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

/// The number of changes of one name, of each kind.
const ROUNDS: usize = 20;
/// The number of changes of all names, of each kind.
const LARGE_ROUNDS: usize = 2;
/// The number of installations from each server.
const INSTALLS: usize = 5;
/// How long the idle server is measured.
const IDLE: Duration = Duration::from_secs(5);
/// The number of requests about hosted gems.
const QUESTIONS: usize = 500;

const WEEK_S: u64 = 7 * 86_400;
const PLAIN: &str = "plain-group";
const COOL: &str = "cool-group";
const DENYING: &str = "denying-group";

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Groups of {HOSTED_GEMS} hosted gems, an upstream with {GEMS} and one with {PAID_GEMS}");
    let (folder, kit) = (tempfile::tempdir()?, Kit::new());
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
    let mut shop = Shop::open(folder.path(), &kit.public)?;
    kit.own.iter().try_for_each(|gem| shop.push(&gem.bytes()))?;
    println!("\n| rendered | `/versions`, bytes | CPU, ms | s | resident, MB |\n|---|---|---|---|---|");
    for remote in [PUBLIC, PAID] {
        first(&shop, remote)?;
    }
    let members = [HOSTED, PUBLIC, PAID];
    shop.group(PLAIN, &members, &json!(null))?;
    let plain = first(&shop, PLAIN)?;
    shop.group(COOL, &members, &json!({ "cooldown_s": WEEK_S }))?;
    let cool = first(&shop, COOL)?;
    shop.group(DENYING, &members, &json!({ "deny": ["spare-part-never", "am*-kit"] }))?;
    let denying = first(&shop, DENYING)?;
    println!("\nhighest memory, MB: {:.0}; load average: {}", shop.server.highest()? as f64 / 1e6, load_average()?);
    changes(&mut shop, [plain, cool, denying])?;
    println!("\nresident, MB: {:.0}; highest, MB: {:.0}", mb(&shop.server)?, shop.server.highest()? as f64 / 1e6);
    questions(&shop, &kit)?;
    installations(&shop, &kit)?;
    one_change(&mut shop, &kit)
}

/// The cost of a request about one name that no page answers.
fn questions(shop: &Shop, kit: &Kit) -> Result<()> {
    let own = String::from_utf8(crate::hit::read(&shop.server, &format!("/repository/{HOSTED}/names"))?)?;
    let own: Vec<&str> = own.lines().skip(1).take(QUESTIONS).collect();
    let public: Vec<&str> = kit.public.iter().map(|gem| &*gem.name).collect();
    println!("\n| `/info` of names that were not requested before | number | CPU of each, ms |\n|---|---|---|");
    let asked = [(HOSTED, &own), (PLAIN, &own), (PUBLIC, &public), (PLAIN, &public), (COOL, &own), (COOL, &public)];
    for (repository, names) in asked {
        let mut connection = Connection::open(shop.server.address.parse()?)?;
        let before = shop.server.cpu_seconds()?;
        for name in names {
            let reply = connection.call("GET", &format!("/repository/{repository}/info/{name}"), &[], b"")?;
            ensure!(reply.status == 200, "{repository}: {name}: {}", reply.status);
        }
        let cpu = (shop.server.cpu_seconds()? - before) * 1e3 / names.len() as f64;
        println!("| {repository} | {} | {cpu:.3} |", names.len());
    }
    Ok(())
}

/// The requests of a client after one change of an upstream, and the bytes that it gets.
fn one_change(shop: &mut Shop, kit: &Kit) -> Result<()> {
    let relay = Relay::to(&shop.server.address)?;
    let (machine, gemfile) = (Machine::new()?, kit.gemfile(&format!("http://{}/repository/{PLAIN}/", relay.address)));
    println!("\n| Bundler with {} gems | requests | bytes of replies |\n|---|---|---|", kit.paths().len() / 2);
    let print = |what: &str| {
        let [requests, bytes] = relay.take();
        println!("| {what} | {requests} | {bytes} |");
    };
    machine.install(&gemfile)?;
    print("`install` on a new machine");
    machine.update()?;
    print("`update --all`, nothing has changed");
    shop.release(&kit.public[0], "1.1.0")?;
    machine.update()?;
    print("`update --all` after a version of a gem upstream");
    shop.gain("spare-part-never", "1.0.0");
    shop.pass(2)?;
    machine.update()?;
    print("`update --all` after a version upstream of a gem that it does not need");
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

fn mb(server: &Server) -> Result<f64> {
    Ok(server.resident()? as f64 / 1e6)
}

/// A client that reads an index for the first time since the repository was created.
fn first(shop: &Shop, name: &'static str) -> Result<Reader> {
    let (began, before) = (Instant::now(), shop.server.cpu_seconds()?);
    let reader = Reader::new(&shop.server, name)?;
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), shop.server.cpu_seconds()? - before);
    println!("| {name} | {} | {:.0} | {seconds:.2} | {:.0} |", reader.len(), cpu * 1e3, mb(&shop.server)?);
    Ok(reader)
}

/// The cost of one kind of change.
#[derive(Default)]
struct Cost {
    change: Spread,
    read: Spread,
    millis: Spread,
    body: Spread,
    ratio: Spread,
    names: Spread,
    parts: usize,
    others: Vec<u16>,
}

impl Cost {
    /// Makes a change, and lets a client read it. Both are measured.
    fn measure(
        &mut self,
        shop: &mut Shop,
        reader: &mut Reader,
        change: impl FnOnce(&mut Shop) -> Result<()>,
    ) -> Result<News> {
        let before = shop.server.cpu_seconds()?;
        change(shop)?;
        let (between, began) = (shop.server.cpu_seconds()?, Instant::now());
        let answer = reader.ask(&shop.server)?;
        self.millis.add(began.elapsed().as_secs_f64() * 1e3);
        self.change.add((between - before) * 1e3);
        self.read.add((shop.server.cpu_seconds()? - between) * 1e3);
        let news = reader.take(answer)?;
        self.body.add(news.body as f64);
        self.names.add(news.names as f64);
        if news.status == 206 {
            self.parts += 1;
            self.ratio.add(news.body as f64 / news.changed as f64);
        } else {
            self.others.push(news.status);
        }
        Ok(news)
    }

    fn print(&self, what: &str, group: &str) {
        let Self { change, read, millis, body, ratio, names, parts, others } = self;
        println!(
            "| {what} | {group} | {parts} of {} {others:?} | {} | {} | {} | {change} | {read} | {millis} |",
            read.count(),
            names.median(),
            body.median(),
            if *parts > 0 { format!("{ratio}") } else { "-".to_owned() }
        );
    }
}

fn changes(shop: &mut Shop, [mut plain, mut cool, mut denying]: [Reader; 3]) -> Result<()> {
    println!(
        "\n| change | group | 206 | names | body, bytes | body by changed lines | CPU of the change, ms | CPU until the client has it, ms | ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut cost = Cost::default();
    for round in 0..ROUNDS {
        let gem = Gem::new(&format!("pushed-{round}"), "1.0.0");
        cost.measure(shop, &mut plain, |shop| shop.push(&gem.bytes()))?;
        ensure!(plain.says(&format!("\npushed-{round} 1.0.0 ")), "a push is not visible after its acknowledgement");
    }
    cost.print("hosted push", PLAIN);
    for (reader, first) in [(&mut plain, true), (&mut denying, false)] {
        let (mut cost, group) = (Cost::default(), reader.group);
        for round in 0..ROUNDS {
            let deny: Vec<String> = (0..=round).map(|number| format!("spare-part-{number}")).collect();
            let own = ["spare-part-never".to_owned(), "am*-kit".to_owned()];
            let deny: Vec<String> = if first { deny } else { own.into_iter().chain(deny).collect() };
            cost.measure(shop, reader, |shop| shop.set(group, &json!({ "policy": { "deny": deny } })))?;
        }
        cost.print(if first { "deny a name, without a policy before" } else { "deny a name" }, group);
        let mut cost = Cost::default();
        cost.measure(shop, reader, |shop| shop.set(group, &json!({ "policy": { "deny": if first { json!(null) } else { json!(["spare-part-never", "am*-kit"]) } } })))?;
        cost.print("stop denying these", group);
    }
    let mut cost = Cost::default();
    for round in 0..ROUNDS {
        let claims: Vec<String> = (0..=round).map(|number| format!("spare-part-{number}")).collect();
        cost.measure(shop, &mut plain, |shop| shop.set(HOSTED, &json!({ "claims": claims })))?;
    }
    cost.print("claim a name", PLAIN);
    let mut cost = Cost::default();
    cost.measure(shop, &mut plain, |shop| shop.set(HOSTED, &json!({ "claims": [] })))?;
    cost.print("stop claiming these", PLAIN);
    upstream_changes(shop, &mut plain, &mut cool, &mut denying)?;
    large_changes(shop, &mut plain, &mut denying)
}

fn upstream_changes(shop: &mut Shop, plain: &mut Reader, cool: &mut Reader, denying: &mut Reader) -> Result<()> {
    // Effects of earlier changes are not measured here.
    for reader in [&mut *cool, denying] {
        let answer = reader.ask(&shop.server)?;
        reader.take(answer)?;
    }
    let (mut cost, mut others) = (Cost::default(), [Cost::default(), Cost::default()]);
    for round in 0..ROUNDS {
        let version = format!("2.{round}.0");
        cost.measure(shop, plain, |shop| {
            shop.gain("spare-part-1", &version);
            shop.pass(2)
        })?;
        for (cost, reader) in others.iter_mut().zip([&mut *cool, denying]) {
            cost.measure(shop, reader, |_| Ok(()))?;
        }
    }
    cost.print("version upstream", PLAIN);
    for (cost, group) in others.iter().zip([COOL, DENYING]) {
        cost.print("the same", group);
    }
    let mut cost = Cost::default();
    cost.measure(shop, cool, |shop| shop.pass(WEEK_S / 60))?;
    cost.print("end of a cooldown", COOL);
    let (mut cost, mut others) = (Cost::default(), [Cost::default(), Cost::default()]);
    for round in 0..LARGE_ROUNDS {
        let version = format!("3.{round}.0");
        cost.measure(shop, plain, |shop| {
            shop.gain("spare-part-2", &version);
            shop.compact()?;
            shop.pass(20)
        })?;
        for (cost, reader) in others.iter_mut().zip([&mut *cool, denying]) {
            cost.measure(shop, reader, |_| Ok(()))?;
        }
    }
    cost.print("compaction upstream, and a version", PLAIN);
    for (cost, group) in others.iter().zip([COOL, DENYING]) {
        cost.print("the same", group);
    }
    Ok(())
}

fn large_changes(shop: &mut Shop, plain: &mut Reader, denying: &mut Reader) -> Result<()> {
    for reader in [plain, denying] {
        let group = reader.group;
        let answer = reader.ask(&shop.server)?;
        reader.take(answer)?;
        let kinds = [
            ("member removed", [HOSTED, PUBLIC].as_slice()),
            ("member added", &[HOSTED, PUBLIC, PAID]),
            ("order changed", &[HOSTED, PAID, PUBLIC]),
            ("order changed back", &[HOSTED, PUBLIC, PAID]),
        ];
        let mut costs = [(); 4].map(|()| Cost::default());
        for _ in 0..LARGE_ROUNDS {
            for ((_, members), cost) in kinds.iter().zip(&mut costs) {
                shop.pass(1)?;
                // Effects of the passing time are not measured here.
                let answer = reader.ask(&shop.server)?;
                reader.take(answer)?;
                cost.measure(shop, reader, |shop| shop.set(group, &json!({ "members": members })))?;
            }
        }
        for ((what, _), cost) in kinds.iter().zip(&costs) {
            cost.print(what, group);
        }
    }
    Ok(())
}

fn installations(shop: &Shop, kit: &Kit) -> Result<()> {
    let folder = tempfile::tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
    let files = folder.path().join("files");
    std::fs::create_dir(&files)?;
    kit::copy(kit, &shop.server, PLAIN, &files)?;
    let nginx = Server::nginx_without_tags(folder.path())?;
    let urls = [format!("http://{}/repository/{PLAIN}/", shop.server.address), format!("http://{}/", nginx.address)];
    let (idle, began) = (shop.server.cpu_seconds()?, Instant::now());
    std::thread::sleep(IDLE);
    let idle = (shop.server.cpu_seconds()? - idle) / began.elapsed().as_secs_f64();
    println!("\nCPU of an idle Daylight, ms a second: {:.2}; the next table does not include it", idle * 1e3);
    let (mut costs, mut again) = ([Spread::default(), Spread::default()], [Spread::default(), Spread::default()]);
    for round in 0..=INSTALLS {
        for (at, (server, idle)) in [(&shop.server, idle), (&nginx, 0.0)].into_iter().enumerate() {
            let (machine, gemfile) = (Machine::new()?, kit.gemfile(&urls[at]));
            for costs in [&mut costs, &mut again] {
                let (before, began) = (server.cpu_seconds()?, Instant::now());
                machine.install(&gemfile)?;
                let spent = server.cpu_seconds()? - before - idle * began.elapsed().as_secs_f64();
                // The first is not counted.
                if round > 0 {
                    costs[at].add(spent * 1e3);
                }
            }
        }
    }
    println!(
        "\n| {INSTALLS} `bundle install` of {} gems in turns | server CPU on a new machine, ms | on one with the index, ms |",
        kit.paths().len() / 2
    );
    println!("|---|---|---|");
    for (at, name) in ["Daylight's group", "nginx"].iter().enumerate() {
        println!("| {name} | {} | {} |", costs[at], again[at]);
    }
    let ratio = |both: &[Spread; 2]| both[0].median() / both[1].median();
    println!("| ratio | {:.2} | {:.2} |", ratio(&costs), ratio(&again));
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}
