CARGO ?= cargo
FENCESMITH = target/release/fencesmith

.PHONY: help demo build test test-more test-browser test-spin test-z3 check bench bench-litmus bench-peers bench-scale tables performance schema

help: ## what there is to make
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 14

demo: build ## build, show how Peterson's algorithm breaks under TSO, and mend it
	$(FENCESMITH) verify algorithms/mutex/peterson.fen --model sc,tso || test $$? -eq 1
	$(FENCESMITH) infer algorithms/mutex/peterson.fen

build:
	$(CARGO) build --release --locked

# The unit tests of the engine need no speed, and compiling it with it a second time takes long.
test: ## run all tests
	$(CARGO) test --locked --package fencesmith-engine --config 'profile.test.package.fencesmith-engine.opt-level=0'
	$(CARGO) test --locked --lib --tests --example verify --example infer
	$(CARGO) test --locked --doc

test-more: ## the tests with other random programs; BATCH=2, 3, … for yet others
	FENCESMITH_SEEDS=$(or $(BATCH),1) $(CARGO) test --locked --test '*'

test-browser: ## open a report in a real browser and use it; installs chromium on Debian
	tests/browser/run.sh $(ARGS)

test-spin: ## compare the whole suite with Spin, which is installed if it is missing
	tests/install.sh spin gcc
	FENCESMITH_SPIN=all $(CARGO) test --locked --test formats spin -- --nocapture

test-z3: ## compare what is known of integers with Z3, which is installed if it is missing
	tests/install.sh z3
	FENCESMITH_Z3=all $(CARGO) test --locked --test integers z3 -- --nocapture

tables: build ## regenerate everything in results/, or one with ONLY=table1, table2, compare, complete, growth, suite, performance, integers or c
	$(CARGO) run --release --locked --example tables -- $(ONLY)

performance: build ## measure again and write results/performance.md; ARGS=--quick for a short run
	$(CARGO) run --release --locked --example tables -- performance $(ARGS)

schema: build ## regenerate schema/fencesmith-1.json from the types
	$(FENCESMITH) schema > schema/fencesmith-1.json

check: ## formatting, lints and documentation without warnings
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --document-private-items

bench: ## speed of exploration, of labelling and of inference; ARGS="--quick"
	$(CARGO) bench --locked --bench explore -- $(ARGS)
	$(CARGO) bench --locked --bench infer -- $(ARGS)

bench-litmus: ## litmus tests a minute; ARGS=3000 tests
	$(CARGO) bench --locked --bench litmus -- $(ARGS)

bench-scale: build ## several processes beside one; LARGE=1 for a space that one cannot hold
	benches/scale/run.sh

bench-peers: ## the explorer beside Spin on one program
	benches/peers/run.sh
