# Each target does its own set-up: scripts/setup is quick, and silent when nothing is missing.

TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/daylight/tools
DENY  := $(TOOLS)/bin/cargo-deny --locked check --hide-inclusion-graph

# Requests of the soak test: for warming up, and then for finding leaks.
SOAK := 1000000,9000000
# Seconds for each fuzz target.
FUZZ_SECONDS := 600

.PHONY: help build run test test-live check check-advisories bench dist dist-test torture

help:
	@echo 'make build             target/release/daylight'
	@echo 'make run               build, and serve (ARGS="--listen 127.0.0.1:9000" goes to `daylight serve`)'
	@echo 'make test              all checks: licences, format, lints, all tests, real clients'
	@echo 'make test-live         real builds with an empty cache: downloads some 60 MB from the public upstreams'
	@echo 'make check             format, lints and the fast tests, while you work'
	@echo 'make check-advisories  known vulnerabilities of dependencies (fetches the advisory database from the network)'
	@echo 'make bench             Daylight against its peers, on this machine (ARGS="instructions idle": only these rows)'
	@echo 'make dist              all that a release holds, in target/dist: archives, deb, rpm, image, debug file, SBOM, SHA256SUMS'
	@echo 'make dist-test         tries what `make dist` left: installs it in an empty Debian, starts the image, builds it twice and compares'
	@echo 'make torture           long tests: crashes, also of PostgreSQL and object storage, 100,000 packages that move in while the command is killed, killed backups, random histories of blobs, groups and upstreams, slow upstreams, many clients, restarts, 180,000 pushes of six patterns, the accounts of 20,000 events, incidents with sweeps of settings and with their advice taken, healthy hours, two million downloads and ten million paths to ask about, Redmine through remote repositories, real builds while the machine is lost, and while nodes, the primary of PostgreSQL and object storage are killed, Redmine whose pages are sent from memcached, builds of a Koji hub where KOJI_HUB_SOURCE names its source, ten million mixed requests, fuzzing (SOAK=20000,100000 FUZZ_SECONDS=60: shorter)'

build:
	@scripts/setup build
	@[ -e "$${CARGO_TARGET_DIR:-target}/release/daylight" ] || echo 'The first build takes some 10 minutes on two cores.'
	@scripts/web
	DAYLIGHT_COMMIT=$$(scripts/dist/commit) cargo build --release --locked

run: build
	@DAYLIGHT_COMMIT=$$(scripts/dist/commit) cargo run --quiet --release --locked -- serve $(ARGS)

test:
	@scripts/setup test
	@scripts/web
	$(DENY) licenses bans sources
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked --no-fail-fast

# With an empty cache folder, the tests download from the public upstreams.
test-live:
	@scripts/setup test
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  XDG_CACHE_HOME="$$folder" cargo test --locked --test suite maven_ -- --nocapture

check:
	@scripts/setup check
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked --lib
	cargo test --locked --test suite tidy::

check-advisories:
	@scripts/setup test
	$(DENY) advisories

bench:
	@scripts/setup bench
	cargo build --release --locked --package daylight --package bench
	@cargo run --quiet --release --locked --package bench -- $(ARGS)

dist:
	@scripts/setup dist
	@scripts/dist/run

dist-test:
	@scripts/setup dist
	@scripts/dist/test

torture:
	@scripts/setup test
	DAYLIGHT_TORTURE=500 cargo test --release --locked --test suite crash:: -- --nocapture
	DAYLIGHT_TORTURE=20 cargo test --release --locked --test suite kept:: -- --nocapture
	DAYLIGHT_TORTURE=20 DAYLIGHT_FILES=100000 cargo test --release --locked --test suite cluster::adopt:: -- --nocapture
	scripts/redmine
	scripts/company
	scripts/lost-machine
	ROUNDS=3 scripts/lost-nodes
	scripts/redmine-front
	scripts/redmine-pages
	@if [ -n "$$KOJI_HUB_SOURCE" ]; then scripts/koji && scripts/koji-figures; else echo 'scripts/koji is left out: KOJI_HUB_SOURCE is not set'; fi
	DAYLIGHT_SLOW_CLIENTS=1000 cargo test --release --locked --test suite front:: -- --nocapture
	DAYLIGHT_HISTORIES=10000 cargo test --release --locked -p store --lib histories:: -- --nocapture
	DAYLIGHT_HISTORIES=1000 cargo test --release --locked --test suite histories:: -- --nocapture
	PROPTEST_CASES=10000 cargo test --release --locked -p format --lib gem::upstream -- --nocapture
	DAYLIGHT_SEQUENCES=10000 cargo test --release --locked --test suite gem_upstream::model -- --nocapture
	DAYLIGHT_KOJI_CHANGES=10000 cargo test --release --locked -p repository --lib koji::look -- --nocapture
	DAYLIGHT_KOJI_CHANGES=600 cargo test --release --locked --test suite koji:: -- --nocapture
	DAYLIGHT_LOOKS=1000 cargo test --release --locked --test suite gem_upstream::large -- --nocapture
	DAYLIGHT_BACKUPS=100 cargo test --release --locked --test suite backup:: -- --nocapture
	DAYLIGHT_YEAR=365 cargo test --release --locked --test suite year:: -- --nocapture
	DAYLIGHT_SEQUENCES=10000 cargo test --release --locked --test suite groups::model -- --nocapture
	DAYLIGHT_ATTACKERS=1 cargo test --release --locked --test suite hostile::slow_upstream -- --nocapture
	DAYLIGHT_CROWD=2000 cargo test --release --locked --test suite crowd:: -- --nocapture
	DAYLIGHT_RESTARTS=100 cargo test --release --locked --test suite restart::a_restart_under_load -- --nocapture
	DAYLIGHT_GROWTH=30000 cargo test --release --locked --test suite growing_gems::growth -- --nocapture
	DAYLIGHT_GROWTH=1000000 cargo test --release --locked -p insight --lib segment::tests::whatever_is_in -- --nocapture
	DAYLIGHT_EVENTS=20000 cargo test --release --locked --test suite whole_events:: -- --nocapture
	DAYLIGHT_SWEEPS=1 DAYLIGHT_IMPORT_FILES=100000 cargo test --release --locked --test suite findings:: -- --nocapture
	DAYLIGHT_ADVICE=1 cargo test --release --locked --test suite advice:: -- --nocapture
	DAYLIGHT_HEALTHY=100 DAYLIGHT_COST_MINUTES=70 DAYLIGHT_PROFILE_SECONDS=60 cargo test --release --locked -p insight --lib -- --nocapture
	DAYLIGHT_ASKED=2000000 cargo test --release --locked --test suite asking::sampled -- --nocapture
	DAYLIGHT_PATHS=10000000 cargo test --release --locked --test suite asking::many -- --nocapture
	DAYLIGHT_SOAK=$(SOAK) cargo test --release --locked --test suite soak:: -- --nocapture
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz
