CARGO ?= cargo
FENCESMITH = target/release/fencesmith

.PHONY: help demo build test check bench tables

help: ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

demo: build ## build, then verify and explain Peterson's algorithm
	-$(FENCESMITH) verify algorithms/mutex/peterson.fen --model sc,tso

build:
	$(CARGO) build --release --locked

test: ## run all tests
	$(CARGO) test --locked

tables: ## regenerate everything in results/
	$(CARGO) run --release --locked --example tables

check: ## formatting, lints and documentation without warnings
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --locked --document-private-items
