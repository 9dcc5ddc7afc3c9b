# What people type. Each target does its own set-up: scripts/setup is quick, and silent when nothing is missing.

TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/daylight/tools
DENY  := $(TOOLS)/bin/cargo-deny --locked check --hide-inclusion-graph

# Requests of the soak: to warm up, and then to see that nothing grows.
SOAK := 1000000,9000000
# For each of the fuzz targets.
FUZZ_SECONDS := 600

.PHONY: help build run test test-live check check-advisories bench torture

help:
	@echo 'make build             target/release/daylight'
	@echo 'make run               build, and serve (ARGS="--listen 127.0.0.1:9000" goes to `daylight serve`)'
	@echo 'make test              everything that must hold: licences, format, lints, all tests, real clients'
	@echo 'make test-live         real builds with nothing kept of the public upstreams: takes some 60 MB from them'
	@echo 'make check             format, lints and the fast tests, for while you work'
	@echo 'make check-advisories  known vulnerabilities of dependencies (fetches the advisory database from the network)'
	@echo 'make bench             Daylight against its peers, on this machine (ARGS="instructions idle": these rows alone)'
	@echo 'make torture           crash tests, a hundred backups that are killed, ten thousand histories of blobs and of upstreams of gems, a thousand looks at a large index, a year of a team, ten thousand fates of a group and of an upstream of gems, a thousand who wait for an upstream, a crowd, a hundred restarts, Redmine through an upstream of gems and through one URL of a company, ten million mixed requests, fuzzing; long (SOAK=20000,100000 FUZZ_SECONDS=60: shorter)'

build:
	@scripts/setup build
	cargo build --release --locked

run: build
	@cargo run --quiet --release --locked -- serve $(ARGS)

test:
	@scripts/setup test
	$(DENY) licenses bans sources
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo test --workspace --locked

# With an empty cache folder: what other runs of the tests take from there comes from the public upstreams.
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

torture:
	@scripts/setup test
	DAYLIGHT_TORTURE=500 cargo test --release --locked --test suite crash:: -- --nocapture
	scripts/redmine
	scripts/company
	DAYLIGHT_HISTORIES=10000 cargo test --release --locked -p store --lib histories:: -- --nocapture
	PROPTEST_CASES=10000 cargo test --release --locked -p format --lib gem::upstream -- --nocapture
	DAYLIGHT_SEQUENCES=10000 cargo test --release --locked --test suite gem_upstream::model -- --nocapture
	DAYLIGHT_LOOKS=1000 cargo test --release --locked --test suite gem_upstream::large -- --nocapture
	DAYLIGHT_BACKUPS=100 cargo test --release --locked --test suite backup:: -- --nocapture
	DAYLIGHT_YEAR=365 cargo test --release --locked --test suite year:: -- --nocapture
	DAYLIGHT_SEQUENCES=10000 cargo test --release --locked --test suite groups::model -- --nocapture
	DAYLIGHT_ATTACKERS=1 cargo test --release --locked --test suite hostile::slow_upstream -- --nocapture
	DAYLIGHT_CROWD=2000 cargo test --release --locked --test suite crowd:: -- --nocapture
	DAYLIGHT_RESTARTS=100 cargo test --release --locked --test suite restart::a_restart_under_load -- --nocapture
	DAYLIGHT_SOAK=$(SOAK) cargo test --release --locked --test suite soak:: -- --nocapture
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz
