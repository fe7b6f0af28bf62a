# make prints what there is; each target says what it does after its ##.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

GO ?= go
# Packages and limits, to be set on the command line: make test PKGS=./internal/order/...
PKGS ?= ./...
TEST_TIMEOUT ?= 12m
TORTURE_PKGS ?= ./...
TORTURE_TIMEOUT ?= 3h
BENCH ?= .
# Comparisons take turns with what they are compared with, once through; the
# small ones are repeated until they are steady.
BENCH_TURNS ?= ./internal/bench
BENCH_PKGS ?= ./internal/order ./internal/store/pebblestore ./internal/estimate/...
# Where recordings are; they are not part of this repository.
DATA ?= ../shared/data
# Every package with golden files takes -update.
GOLDEN_PKGS = $(sort $(dir $(shell grep -rlE --include='*_test.go' 'flag\.Bool."update"' . )))

GOLANGCI := .bin/golangci-lint

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what the tests need besides Go (gcc for -race, redis-server, ip)
	@.ci/need gcc redis-server ip

.PHONY: build
build: ## build the server and its commands to ./dengxu
	$(GO) build -trimpath -o dengxu ./cmd/dengxu

.PHONY: test
test: deps ## vet and test everything under the race detector
	$(GO) vet $(PKGS)
	$(GO) test -race -timeout $(TEST_TIMEOUT) $(PKGS)
	@echo 'left out: two of three stories on a cluster, three of four seeds over Redis; make torture runs all'
	@unshare --net ip link >/dev/null 2>&1 || \
		echo 'left out: tests on hosts whose network is cut, which need root and iproute2; make torture insists on them'

.PHONY: lint
lint: $(GOLANGCI) ## run golangci-lint, format included (built at first use, about two minutes)
	$(GOLANGCI) run $(PKGS)

.PHONY: fmt
fmt: $(GOLANGCI) ## format the code
	$(GOLANGCI) fmt

.PHONY: torture
torture: deps ## the long tests: kills, power loss, clocks, many seeds
	DENGXU_TORTURE=1 $(GO) test -race -count 1 -timeout $(TORTURE_TIMEOUT) $(TORTURE_PKGS)

.PHONY: bench
bench: ## measure the store and HTTP beside what they stand on (some minutes, alone on the machine)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 1h $(BENCH_TURNS)
	$(GO) test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem -timeout 1h $(BENCH_PKGS)

# What dengxu is compared with is a module of its own. BENCH_FLAGS: -quick, -only
# NAME, or -help for the others.
.PHONY: bench-redis
bench-redis: ## measure dengxu on Redis beside Redis itself and asynq (ten minutes, alone on the machine)
	@.ci/need redis-server
	cd bench && $(GO) run ./redis $(BENCH_FLAGS)

.PHONY: bench-mysql
bench-mysql: ## measure dengxu over HTTP beside a table in MariaDB (a quarter of an hour, alone on the machine)
	@.ci/need redis-server mariadbd
	cd bench && $(GO) run ./mysql $(BENCH_FLAGS)

.PHONY: bench-test
bench-test: ## vet both comparisons and run them small
	@.ci/need redis-server mariadbd
	cd bench && $(GO) vet ./... && $(GO) test -p 1 -count 1 ./...

# One month of a bank: learned on 20 days, scored on 8. A target that is missed,
# or a file that is absent, fails.
EVALUATE = evaluate --csv $(DATA)/bank-calls-1999-02.csv --train 1-20 --test 21-28

.PHONY: evaluate
evaluate: build ## forecast recorded days and compare with the targets (DATA=folder of recordings)
	@./dengxu $(EVALUATE) --check

.PHONY: evaluate-sklearn
evaluate-sklearn: build ## compare what learns with scikit-learn (python3-sklearn; half a minute)
	@rows=$$(mktemp) && trap 'rm -f "$$rows"' EXIT && ./dengxu $(EVALUATE) --rows "$$rows" >/dev/null && \
		python3 scripts/compare_sklearn.py "$$rows"

.PHONY: docs
docs: ## write generated pages and golden files anew
	$(GO) test $(addsuffix .,$(GOLDEN_PKGS)) -update

.PHONY: clean
clean: ## remove what was built
	rm -rf .bin dengxu

# A module of its own keeps the linter's dependencies out of the product.
$(GOLANGCI): tools/go.mod tools/go.sum
	cd tools && $(GO) build -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
