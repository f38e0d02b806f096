# The commands of the house; `make` alone lists them.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-ray repeat check format-check clippy rustdoc deny tidy book fuzz kill-campaign guest torn-pages docs dist clean

PYTHON ?= python3
CARGO ?= cargo
HERE := $(shell uname -m)
ARCH ?= $(HERE)
TARGET = $(ARCH)-unknown-linux-gnu
# Programs for another processor lie apart from those that run here.
DIST = $(if $(filter $(HERE),$(ARCH)),dist,dist/$(ARCH))
TOOLS := $(CURDIR)/target/tools

# Versions that were tried together; pip and cargo fetch them once into target/tools.
RAY := ray==2.60.0
MATURIN := maturin==1.16.0
ZIG := ziglang==0.17.0
DENY_VERSION := 0.20.2
MDBOOK_VERSION := 0.5.4
FUZZ_VERSION := 0.13.1
# Seconds of fuzzing in the checks; more by hand: make fuzz FUZZ_S=3600.
FUZZ_S ?= 30
# Moments at which the campaign kills; MEASURED=DIR lets it measure elsewhere than in the temporary directory.
KILLS ?= 300
# Seconds for each test program that is repeated; NAME=layouts takes those alone whose name begins so.
REPEAT_S ?= 60
NAME ?=
# Tests that run at once: most wait for servers, storage or time, and hardly for a processor; but each may have a server in memory.
TEST_THREADS ?= $(shell threads=$$((3 * $$(nproc))); echo $$((threads < 8 ? threads : 8)))

# `make test SKIPS=fail` fails when a test is skipped for another reason than those in tests/skips.txt.
SKIPS ?= show
# `make test AGAIN=yes` passes when what failed passes once more, one test at a time; it names the unsteady ones.
AGAIN ?= no

help: ## Lists the commands.
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name what; do \
		printf '  make %-13s %s\n' "$$name" "$$what"; done

## What a user does ##########################################################

demo: .venv/bin/assay ## Builds and installs Assay as a user would, then checks the storage of a temporary directory.
	@scripts/demo .venv/bin/assay

.venv/bin/python:
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet 'pip>=21.3'

.venv/bin/assay: .venv/bin/python pyproject.toml README.md Cargo.lock $(shell git ls-files '*.rs' '*Cargo.toml')
	@echo 'building and installing Assay: some minutes the first time'
	.venv/bin/python -m pip install .
	@touch $@

## What must hold ############################################################

test: $(TOOLS)/test/ready ## Runs all tests; what a machine lacks is skipped with its reason.
	@mkdir -p target/logs; rm -f target/logs/*; status=0; \
	$(CARGO) test --workspace --locked --no-run 2>&1 | tee target/logs/rust.log | scripts/terse; \
	$(TOOLS)/test/bin/python -m unittest discover --verbose -s tests -t . >target/logs/python.log 2>&1 & python=$$!; \
	RUST_TEST_THREADS=$(TEST_THREADS) $(CARGO) test --workspace --locked --no-fail-fast -- --show-output 2>&1 | tee -a target/logs/rust.log | scripts/terse || status=1; \
	wait $$python || status=1; cat target/logs/python.log; \
	scripts/closing-lines target/logs/rust.log target/logs/python.log; \
	[ $$status -eq 0 ] || [ '$(AGAIN)' != yes ] || ! scripts/failed-again target/logs/rust.log target/logs/python.log $(TOOLS)/test/bin/python || status=0; \
	[ '$(SKIPS)' != fail ] || scripts/check-skips tests/skips.txt target/logs/rust.log target/logs/python.log || status=1; exit $$status

test-ray: $(TOOLS)/ray/ready ## Runs the tests on a real Ray cluster of this machine, with the debug program.
	@mkdir -p target/logs; $(TOOLS)/ray/bin/python -m unittest discover --verbose -s tests/cluster -t . 2>&1 | tee target/logs/ray.log

repeat: ## Runs each test program REPEAT_S seconds long, crowded, to find tests that fail now and then.
	@scripts/repeat-tests $(REPEAT_S) $(NAME)

check: format-check clippy rustdoc tidy deny book fuzz ## Runs format, lints, documentation, house rules and licences.

format-check:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) check --manifest-path fuzz/Cargo.toml --target-dir '$(or $(CARGO_TARGET_DIR),target)' --keep-going

rustdoc:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --locked

# The whole workspace is named so that the features, and with them the compiled crates, are those of `make test`.
tidy:
	$(CARGO) test --workspace --locked --test repository --test manual

deny: $(TOOLS)/bin/cargo-deny
	@if [ -x $< ]; then $< check --hide-inclusion-graph bans licenses sources && scripts/check-advisories $<; \
	else echo 'skipped: cargo-deny could not be built; licences and advisories are unchecked'; fi

book: $(TOOLS)/bin/mdbook
	@if [ -x $< ]; then $< build docs; \
	else echo 'skipped: mdbook could not be built; the book is unchecked'; fi

# No artifact of a crash is lost: it lies in target/fuzz and fails the check.
fuzz: $(TOOLS)/bin/cargo-fuzz ## Fuzzes all readers of foreign bytes for FUZZ_S seconds together; needs nightly Rust.
	@if [ -x $< ] && $(CARGO) +nightly --version >/dev/null 2>&1; then \
		mkdir -p target/fuzz/reports-seeds && \
		ASSAY_WRITE_SEEDS=$(CURDIR)/target/fuzz/reports-seeds $(CARGO) test --workspace --locked --quiet --test bad_input seeds >/dev/null && \
		PATH="$(TOOLS)/bin:$$PATH" scripts/fuzz $(FUZZ_S); \
	else echo 'skipped: cargo-fuzz or nightly Rust is missing; the readers of foreign bytes are not fuzzed'; fi

kill-campaign: ## Kills measurements at KILLS random moments with signal 9, and looks at what is left.
	$(CARGO) build --workspace --all-targets --locked
	@scripts/kill-campaign $(KILLS) target/debug/assay

guest: ## Cuts the power of a virtual machine's disk 20 times and more; needs qemu-system-x86_64 and Debian's archive.
	@scripts/guest-kit $(TOOLS)/guest
	$(CARGO) test --workspace --locked --test guest -- --include-ignored --nocapture --test-threads 1

torn-pages: ## Cuts the power under servers that do not protect their pages; needs root, FUSE, loop devices and the servers.
	$(CARGO) test --workspace --locked --test databases torn -- --ignored --nocapture

docs: ## Writes the pages of the commands from the program and builds the book into target/book.
	ASSAY_WRITE_DOCS=1 $(CARGO) test --workspace --locked --test manual
	@$(MAKE) --no-print-directory book

## What is handed out ########################################################

# What runs here describes itself: the packages of another processor take manual pages and completions from this one.
dist: $(TOOLS)/dist/ready ## Builds the portable program (glibc 2.17), wheel, .deb and .rpm into dist/; ARCH=aarch64 for others.
	@if [ '$(ARCH)' != '$(HERE)' ] && ! rustup target list --installed 2>/dev/null | grep -qx '$(TARGET)'; then \
		echo 'skipped: this toolchain has no $(TARGET); rustup target add $(TARGET) adds it'; exit; fi; \
	rm -rf '$(DIST)' && \
	PATH="$(TOOLS)/dist/bin:$$PATH" maturin build --release --zig \
		--target $(TARGET) --compatibility manylinux2014 --out '$(DIST)' && \
	install -m 755 target/$(TARGET)/release/assay '$(DIST)/assay' && \
	if [ '$(ARCH)' = '$(HERE)' ]; then export RUNNABLE='$(DIST)/assay'; \
	else $(CARGO) build --package assay --locked && export RUNNABLE=target/debug/assay; fi && \
	scripts/package '$(DIST)/assay' $(ARCH) '$(DIST)' && \
	DIST='$(DIST)' $(PYTHON) -m unittest discover --verbose -s tests/dist -t .

clean: ## Removes everything that was built.
	rm -rf .venv target dist

## Tools #####################################################################

$(TOOLS)/test/ready: tests/requirements.txt
	$(PYTHON) -m venv $(TOOLS)/test
	$(TOOLS)/test/bin/python -m pip install --quiet --requirement tests/requirements.txt
	@touch $@

# Ray takes 285 MB and lies apart.
$(TOOLS)/ray/ready:
	$(PYTHON) -m venv $(TOOLS)/ray
	$(TOOLS)/ray/bin/python -m pip install --quiet '$(RAY)'
	@touch $@

$(TOOLS)/dist/ready:
	$(PYTHON) -m venv $(TOOLS)/dist
	$(TOOLS)/dist/bin/python -m pip install --quiet '$(MATURIN)' '$(ZIG)'
	@touch $@

$(TOOLS)/bin/cargo-deny:
	@scripts/install-tool cargo-deny $(DENY_VERSION) $@

$(TOOLS)/bin/cargo-fuzz:
	@scripts/install-tool cargo-fuzz $(FUZZ_VERSION) $@

$(TOOLS)/bin/mdbook:
	@scripts/install-tool mdbook $(MDBOOK_VERSION) $@ search
