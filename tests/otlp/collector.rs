//! A real OpenTelemetry Collector, which `scripts/setup test` builds where there is Go, takes what the server sends.

use super::equal::{ALL, asked, differs};
use super::told::Told;
use super::{requests, world};
use crate::world::{cache, eventually, free_port};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running collector. Dropping it kills it.
struct Collector {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Collector {
    /// `None`: there is none on this machine.
    fn start() -> Option<Self> {
        let program = cache().join("tools/bin/otel-collector");
        if !program.exists() {
            return None;
        }
        let (folder, port) = (TempDir::new().unwrap(), free_port());
        let lines = folder.path().join("lines");
        let settings = format!(
            "receivers: {{otlp: {{protocols: {{http: {{endpoint: '127.0.0.1:{port}'}}}}}}}}\n\
             exporters: {{lines: {{path: '{}'}}}}\n\
             service:\n  telemetry: {{metrics: {{level: none}}}}\n  pipelines:\n    \
             traces: {{receivers: [otlp], exporters: [lines]}}\n    metrics: {{receivers: [otlp], exporters: [lines]}}\n",
            lines.display()
        );
        let file = folder.path().join("collector.yaml");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        command.arg(format!("--config=file:{}", file.display())).env_clear().stdin(Stdio::null());
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut collector = Self { child, port, folder };
        eventually(|| match std::net::TcpStream::connect(("127.0.0.1", port)) {
            Ok(_) => Ok(()),
            Err(error) => match collector.child.try_wait().unwrap() {
                Some(ended) => panic!("the collector ended with {ended}: {}", collector.log()),
                None => Err(error.to_string()),
            },
        });
        Some(collector)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn told(&self) -> Told {
        let lines = std::fs::read_to_string(self.folder.path().join("lines")).unwrap_or_default();
        // The last line may be half written.
        Told::of(&lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_collector_takes_spans_and_metrics_whose_sums_are_those_of_questions() {
    let Some(collector) = Collector::start() else {
        return eprintln!(
            "there is no Go 1.26 here to build a collector; `otlp::equal` reads the same with a decoder of the protocol"
        );
    };
    let world = world(&format!("http://127.0.0.1:{}", collector.port));
    requests(&world);
    let told = eventually(|| {
        let (told, sums) = (collector.told(), asked(&world, ALL));
        let count: u64 = sums.values().map(|(count, _)| count).sum();
        if count == 45 { differs(&told, &sums).map(|()| told) } else { Err(format!("{count} requests are counted")) }
    });
    assert_eq!(told.resource["service.name"], "daylight");
    let exponential = told.metrics.get("daylight.request_duration").expect("an exponential histogram");
    assert!(exponential.values().sum::<f64>() >= 45.0, "{exponential:?}");
    // The collector refused nothing.
    let page = world.anon().get("/metrics").expect(200);
    for signal in ["spans", "metrics"] {
        let refused = crate::metrics::Samples::of(page.text())
            .find(&format!("daylight_otlp_rejected_total{{signal=\"{signal}\"}}"));
        assert_eq!(refused, Some(0.0), "{signal}");
    }
}
