//! Each expression of the rules and of the dashboard has data in Prometheus of this Debian release and in Prometheus 3, which scrape real
//! servers under load: one of repositories, one with TLS, and a front of an application.

use super::{rules, shape};
use crate::front::program::Front;
use crate::tls::Certificate;
use crate::world::{ADMIN, FIRST, Gem, Prometheus, Says, Upstream, World, eventually, free_port};
use std::collections::BTreeSet;

/// Figures that not every kernel and not every cgroup has.
const OF_KERNELS: [&str; 2] = ["daylight_cgroup_", "daylight_pressure_"];
/// Operations that only commands run, on a server that is stopped: nothing measures how long they take while it serves.
const OF_COMMANDS: &str = "op=~\"store\\\\.";
/// Operations on Koji hubs, authorities, databases and object storage, which no server here has.
const OF_OTHERS: [&str; 4] = ["op=~\"koji\\\\.", "op=~\"acme\\\\.", "op=~\"database\\\\.", "op=~\"object\\\\."];

/// Servers that did what the dashboard shows, and what they need.
struct Load {
    world: World,
    secured: World,
    front: Front,
    upstream: Upstream,
    _certificate: Certificate,
}

impl Load {
    fn start() -> Self {
        let upstream = Upstream::start();
        let world = World::start_in_conformance(&[("DAYLIGHT_TELEMETRY_ACCESS_LOG_FILE", "access.log")]);
        // A setting has no effect, which is an open finding five minutes later.
        world.set_time("2026-11-02T12:00:00Z");
        world.tree("files", "raw");
        world.remote_of("raw", "far", &upstream.url());
        upstream.says("/broken", Says::status(500));
        let certificate = Certificate::new();
        // It tells a receiver of findings, and one of OpenTelemetry.
        let receivers = format!(
            "[telemetry]\notlp_url = \"{0}\"\n\n[[alerts.to]]\nname = \"ours\"\nkind = \"alertmanager\"\nurl = \"{0}\"\n",
            upstream.url()
        );
        let secured = World::start_with_file(&format!("{}\n{receivers}", certificate.settings()));
        // Nobody listens at the second backend.
        let settings = format!(
            "[server]\ntrusted_proxies = \"127.0.0.1\"\nclient_from = \"x-forwarded-for\"\n\n[[app]]\nname = \"shop\"\nlisten = \"127.0.0.1:0\"\nto = [\"{}\", \"http://127.0.0.1:{}\"]\n",
            world.root(),
            free_port()
        );
        let front = Front::configured(&settings);
        world.set_time("2026-11-02T12:06:00Z");
        Self { world, secured, front, upstream, _certificate: certificate }
    }

    /// Requests of all kinds.
    fn go_on(&self, turn: usize) {
        let (admin, name) = (self.world.admin(), format!("file{turn}"));
        self.upstream.file(&format!("/{name}"), "bytes");
        admin.put("files", &name, b"bytes").expect(201);
        admin.push(FIRST, &Gem::new("lamp", &format!("1.0.{turn}"))).expect(200);
        for path in [format!("far/{name}"), format!("files/{name}"), format!("{FIRST}/versions")] {
            self.world.anon().get(&format!("/repository/{path}")).expect(200);
        }
        self.world.anon().file("far", "none").expect(404);
        assert!(self.world.anon().file("far", "broken").status >= 502);
        // One for each backend. They waited a while at the proxy.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let began = format!("t={}", now.as_millis() - 2000);
        for _ in 0..2 {
            self.front.ask("GET", &format!("/repository/files/{name}"), &[("X-Request-Start", &began)], b"");
        }
    }

    /// What Prometheus scrapes each second.
    fn configuration(&self) -> String {
        let token = format!("    authorization: {{ credentials: {ADMIN} }}\n    metrics_path: /metrics\n");
        format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nrule_files: [daylight.rules.yml]\nscrape_configs:\n  \
             - job_name: daylight\n{token}    static_configs: [{{ targets: [\"{}\", \"{}\"] }}]\n  \
             - job_name: daylight-tls\n    scheme: https\n    tls_config: {{ insecure_skip_verify: true }}\n{token}    \
             static_configs: [{{ targets: [\"{}\"] }}]\n",
            self.world.address(),
            self.front.admin_address(),
            self.secured.address(),
        )
    }
}

/// What the rules and the dashboard ask, with all servers and repositories chosen.
fn expressions() -> BTreeSet<String> {
    let chosen = |expr: String| {
        let expr = expr.replace("$instance", ".*").replace("$repository", ".*").replace("$quantile", "0.95");
        expr.replace("$__rate_interval", "30s")
    };
    let of_panels = shape::panels().iter().flat_map(shape::queries).collect::<Vec<_>>();
    let of_rules = rules::rules().into_iter().flat_map(|(_, rules)| rules).flat_map(|rule| rule.figures);
    let labels = ["count by (instance) (daylight_build_info)", "count by (repository) (daylight_repository_info)"];
    of_panels.into_iter().chain(of_rules.chain(labels).map(str::to_owned)).map(chosen).collect()
}

/// Whether no server here has what an expression asks about.
fn may_be_empty(expr: &str, page: &str) -> bool {
    let of_kernel = OF_KERNELS.iter().filter_map(|prefix| {
        let rest = &expr[expr.find(prefix)?..];
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
        Some(&rest[..end])
    });
    let lacks = |name: &str| !page.lines().any(|line| line.starts_with(name));
    of_kernel.into_iter().any(lacks) || {
        OF_OTHERS.iter().chain([&OF_COMMANDS]).any(|of| expr.contains(of)) && expr.contains("histogram_quantile")
    }
}

#[test]
fn each_expression_of_rules_and_panels_has_data_in_both_releases_of_prometheus() {
    let load = Load::start();
    load.go_on(0);
    let configuration = load.configuration();
    let start = |release: &str| Prometheus::start(release, &configuration, &[("daylight.rules.yml", &rules::yaml())]);
    let all = Prometheus::RELEASES.map(start);
    let versions = all.each_ref().map(Prometheus::version);
    println!("Prometheus {}", versions.join(" and "));
    assert!(versions[1].starts_with("3."), "{versions:?}");
    let mut missing = all.each_ref().map(|_| expressions());
    let mut turn = 0;
    eventually(|| {
        turn += 1;
        load.go_on(turn);
        let page = load.world.admin().get("/metrics").expect(200).text().to_owned();
        for (prometheus, missing) in all.iter().zip(&mut missing) {
            missing.retain(|expr| {
                let values = prometheus.query(expr).unwrap_or_else(|why| panic!("{expr}\n{why}"));
                values.is_empty() && !may_be_empty(expr, &page)
            });
        }
        if missing.iter().all(BTreeSet::is_empty) { Ok(()) } else { Err(format!("without data: {missing:#?}")) }
    });
    for prometheus in &all {
        eventually(|| {
            let groups = prometheus.api("rules")?["groups"].as_array().unwrap().clone();
            let rules: Vec<_> = groups.iter().flat_map(|group| group["rules"].as_array().unwrap()).collect();
            let ill = rules.iter().find(|rule| rule["health"] != "ok");
            let cause = rules.iter().find(|rule| rule["name"] == "DaylightFindingCause").unwrap();
            match ill {
                Some(ill) => Err(ill.to_string()),
                None if cause["state"] != "firing" => Err(cause.to_string()),
                None => Ok(()),
            }
        });
    }
}

#[test]
fn the_figures_of_a_rule_are_parts_of_its_expression() {
    for rule in rules::rules().into_iter().flat_map(|(_, rules)| rules) {
        assert!(rule.figures.iter().all(|figure| rule.expr.contains(figure)), "{}", rule.name);
        // The finding of a healthy server is none.
        assert!(!rule.figures.is_empty() || rule.expr.starts_with("daylight_finding_open"), "{}", rule.name);
    }
}
