# One set of build flags everywhere, so that nothing is compiled twice. The race detector
# alone needs cgo.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
export GOFLAGS := -trimpath
export CGO_ENABLED := 0
# Envoy, and Postgres where the machine has none, are fetched into it once.
export FAIRLEAD_CACHE_DIR ?= $(CURDIR)/.cache

TOOLS := $(CURDIR)/.bin
GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(TOOLS)/golangci-lint
GENERATED := clients/go/client.gen.go clients/python/fairlead_client clients/typescript/src/schema.ts internal/httpapi/oapi/oapi.gen.go internal/httpapi/oapi/called.gen.go internal/envoytypes/imports_gen.go web/dist.zip

# Packages that are tested at the same time. Two use two cores; more only make the
# tests with a deadline wait for each other.
TEST_P ?= 2
TEST_FLAGS ?=
# Everything but the end-to-end tests, whose deadlines want the machine for themselves. Those that take longest come first, so that none of them
# is left alone at the end.
LONGEST := fairlead/internal/store fairlead/internal/httpapi
UNIT = { printf '%s\n' $(LONGEST); go list ./...; } | awk '!seen[$$0]++' | grep -v -e '/test/e2e' -e '/test/grpc' -e '/test/journey' -e '/test/clients' -e '/test/contract' -e '/test/alerts' -e '/test/chaos'
# A process under the race detector sleeps a second before it ends, for the races of goroutines that outlive main. Tests wait for the
# ones that they start, and fail where one is left (goleak).
export GORACE ?= atexit_sleep_ms=10
# -vet=off: the linter runs vet.
RACE := CGO_ENABLED=1 go test -race -vet=off
PLAIN := go test -vet=off

# Of what takes longest CI runs one part of seven, which the commit's hash chooses; by hand and in "make soak" all of it runs. TURN=all, TURN=store
# The race detector, which makes tests take three times as long, looks at the engine, the API, the command line, the store, the servers around
# them, the end-to-end tests with Envoy, or those with other clients; the others run without it. RACED=all, RACED=none says it for the race detector alone.
TURNS := api cli clients e2e engine servers store
ENGINE := /internal/(xds|replica|planner|delivery|snapshot|refusal|endpoints|load|lifecycle|compute|door)(/|$$)
API := ^fairlead/internal/(httpapi)(/|$$)
CLI := ^fairlead/(cmd)(/|$$)
STORE := ^fairlead/internal/(store|localpg)(/|$$)
ifndef TURN
TURN := $(if $(CI),$(shell turns=($(TURNS)); commit=$$(git rev-parse HEAD 2>/dev/null || date +%s%N | sha256sum); echo $${turns[$$((16#$${commit:8:6} % $${#turns[@]}))]}),all)
endif
export TURN # one for all that a run starts, without git too
RACED ?= $(TURN)
# Beside the race detector a turn has one of what is long and depends on little else. It is a release, the program of the measurements, every page
# in Chromium, requests that schemathesis makes up, an older Envoy, or images. That of the API, which is the longest, has none.
WITH_RELEASE := clients
WITH_BENCH := cli
WITH_PAGES := servers
WITH_SCHEMATHESIS := engine
WITH_OLDER := store
WITH_IMAGE := e2e
turn_of = $(filter all $(1),$(TURN))
raced = $(filter all $(1),$(RACED))
# The packages whose turn it is (1), or the others (0). Each is of one turn: "servers" are those that no pattern names.
turn = awk -v raced=' $(RACED) ' '{ t = $$0 ~ "$(ENGINE)" ? "engine" : $$0 ~ "$(API)" ? "api" : $$0 ~ "$(CLI)" ? "cli" : $$0 ~ "$(STORE)" ? "store" : "servers"; \
	if ((raced ~ " (all|" t ") ") == $(1)) print }'

.PHONY: help
help: ## Say what there is (default)
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Start everything on this machine: Postgres, API, xDS server, demo, Envoy. ARGS="--help" says more
	@go build -o bin/ ./cmd/fairlead
	@exec bin/fairlead dev $(ARGS)

.PHONY: build
build: ## Build the programs into bin/
	go build -o bin/ ./cmd/...

# Packages that have tests which are built without the race detector alone: their names begin with TestLarge (internal/large_test.go).
LARGE := ./cmd/fairlead ./internal/httpapi ./internal/xds

.PHONY: test
test: unit e2e ## Run all tests, end to end ones too; Envoy and Postgres are found or fetched

.PHONY: unit unit-packages unit-modules
unit: unit-packages unit-modules ## Run all tests but the end-to-end ones
unit-packages: race-ready
	@echo "== the race detector looks at: $(RACED)"
	@packages=$$($(UNIT) | $(call turn,1)); [ -z "$$packages" ] || { set -x; $(RACE) -p $(TEST_P) -timeout 8m $(TEST_FLAGS) $$packages; }
	@packages=$$($(UNIT) | $(call turn,0)); [ -z "$$packages" ] || { set -x; $(PLAIN) -p $(TEST_P) -timeout 8m $(TEST_FLAGS) $$packages; }
	@packages=$$(go list $(LARGE) | $(call turn,1)); [ -z "$$packages" ] || { set -x; $(PLAIN) -timeout 5m -run '^TestLarge' $(TEST_FLAGS) $$packages; }
unit-modules: race-ready
	cd bench && $(if $(call raced,servers),$(RACE),$(PLAIN)) -timeout 5m $(if $(call turn_of,$(WITH_BENCH)),,-skip '^(TestAllServersTakeTurns|TestTwoServersAndAKill)$$') $(TEST_FLAGS) ./...
	cd clients/go && $(PLAIN) -timeout 5m $(TEST_FLAGS) ./...
	cd test/compose && $(PLAIN) -timeout 5m $(TEST_FLAGS) .
	$(if $(and $(CI),$(call turn_of,$(WITH_IMAGE))),@$(MAKE) image-test)
	cd tools/promrules && $(PLAIN) -timeout 5m $(TEST_FLAGS) ./...
	cd tools/release && $(PLAIN) -timeout 15m $(if $(call turn_of,$(WITH_RELEASE)),,-skip '^TestRelease$$') $(TEST_FLAGS) ./...
	cd tools/chart && $(PLAIN) -timeout 10m $(TEST_FLAGS) ./...

# Those with Envoy beside all others, and three at a time: they wait for clients and timers more than they compute. Under the race detector they
# compute more.
.PHONY: e2e e2e-envoy e2e-clients
e2e: race-ready ## Run the end-to-end tests alone, with a real Envoy, real gRPC clients and the clients of the API
	@$(MAKE) -j2 e2e-clients e2e-envoy
e2e-envoy:
	$(if $(call raced,e2e),$(RACE),$(PLAIN) -parallel 3) -timeout 15m $(TEST_FLAGS) ./test/e2e/...
e2e-clients:
	$(if $(call raced,clients),$(RACE),$(PLAIN)) -p 1 -timeout 15m $(TEST_FLAGS) ./test/grpc/... ./test/journey ./test/clients ./test/chaos
	$(PLAIN) -parallel 6 -timeout 5m $(TEST_FLAGS) ./test/alerts
	$(if $(and $(CI),$(call turn_of,$(WITH_OLDER))),@$(MAKE) e2e-turn)

.PHONY: release
release: ## Build what is published of a version into dist/, the same bytes each time. VERSION=1.2.3, PLATFORMS=linux/amd64
	@cd tools/release && go run . -version '$(VERSION)' $(if $(PLATFORMS),-platforms '$(PLATFORMS)')
	@cd dist && cat SHA256SUMS

.PHONY: image
image: ## Build the image with podman, the same each time. VERSION=1.2.3, IMAGE=registry.example.com/fairlead:1.2.3
	@deploy/image '$(VERSION)' '$(or $(IMAGE),fairlead:$(VERSION))'

# The minors of Envoy that are supported, each with its newest patch (internal/envoyversion). The
# last one is what every other test runs with.
ENVOY_MINORS := 1.36 1.37 1.38 1.39 1.40

.PHONY: e2e-versions
e2e-versions: race-ready ## Run the end-to-end tests with every Envoy that is supported, in turn. VERSION=1.36 runs one
	@for v in $(or $(VERSION),$(ENVOY_MINORS)); do echo "== Envoy $$v"; \
		ENVOY_VERSION=$$v $(RACE) -p 1 -count=1 -timeout 15m $(TEST_FLAGS) ./internal/bootstrap ./test/e2e; done

# Tests to which Envoy's version is nothing: there is none, or it is any client of a server that is tried.
ANY_ENVOY := Soak|TestOneKey|TestDev|TestServers|TestResourcesExpire|TestPlaintext|TestAPIWithout|TestHealth|TestBootstrapToken|Page|TestSentAgain|TestAnUnanswered|TestPollsThrough|TestPostgresKilled|TestChangeArrives|TestT43_|TestRevoked|TestMetrics|TestASecretSealed|TestTwoEnvoys|TestRegistered|TestEndpointsOutlive|TestStrictFleet

.PHONY: e2e-turn
e2e-turn: ## Run them with one of the older ones, in one protocol and without the race detector: the commit's hash chooses both
	@minors=($(ENVOY_MINORS)); protocols=(delta SotW); commit=$$(git rev-parse HEAD 2>/dev/null || date +%s%N | sha256sum); \
		other=$${protocols[$$((16#$${commit:6:1} % 2))]}; \
		$(MAKE) e2e-versions RACE="go test -vet=off" VERSION=$${minors[$$((16#$${commit:0:6} % ($${#minors[@]} - 1)))]} TEST_FLAGS="$(TEST_FLAGS) -skip '$(ANY_ENVOY)|./$$other'"

.PHONY: schemathesis-turn
schemathesis-turn: ## Ask it if it is its turn
	@$(if $(call turn_of,$(WITH_SCHEMATHESIS)),$(MAKE) schemathesis)

# How long the long checks take: writers of the store, a client that refuses everything,
# random sequences of requests; and how many random histories of a fleet on several servers are
# played of each protocol, other ones each time; how long each flood lasts (twelve of them), whose times are judged. Then how many revisions 10,000 nodes have behind them, whose
# times are judged and who therefore do without the race detector. So do endpoints under leases, files of 1,000 clusters, and 1,000 polls that wait, of which the first take SOAK_ENDPOINTS.
SOAK_STORE ?= 30s
SOAK_REFUSALS ?= 60s
SOAK_REQUESTS ?= 10m
SOAK_FLOODS ?= 10m
SOAK_ENDPOINTS ?= 10m
# There and back, until that time is over.
SOAK_UPGRADE ?= 10m
# Of each of the two seeds.
SOAK_CHAOS ?= 15m
SOAK_HISTORIES ?= 12000
SOAK_HISTORY ?= 200000
SOAK_LARGE := 'Soak(ProductionSize|FirstDay|AtTheLimits)'
SOAK_SUBSCRIBE := 'Soak(EndpointsUnderLeases|Files|T08_)'
# Packages whose random histories the race detector has a tenth of in other runs (internal/large_test.go).
RANDOM := ./internal/delivery ./internal/planner
# Other packages that draw, and their tests, which draw the same in other runs (test/pinned).
DRAWN := ./internal/refusal ./internal/replica ./internal/selector ./internal/snapshot ./internal/store
DRAWS := TestDerivedComesBack TestDiffIsTheDifference TestIndexEqualsTryingAll TestIndexFindsEveryPrefix TestOrderMeansNothing TestPayloadsFit TestSetBehavesAsAMap TestT41_NothingIsTakenFromANeighbour TestWhatStandsIsTheSameInAnyOrder TestWinnerEqualsSorting
space := $(subst ,, )
SOAK := $(RACE) -p 1 -parallel 1 -count=1 -timeout 60m -v

.PHONY: soak
soak: race-ready ## Run the long checks, which CI runs a twentieth of at most; docs/soak has a log
	$(MAKE) test TURN=all TEST_FLAGS='$(TEST_FLAGS) -count=1'
	$(MAKE) page-browser schemathesis e2e-versions TURN=all
	FAIRLEAD_SOAK=full $(MAKE) image-test compose-test debian-test
	FAIRLEAD_SOAK=$(SOAK_STORE) $(SOAK) -run 'Soak' -skip 'Soak(ProductionSize|FirstDay|AtTheLimits|Deletions|T16_Floods|Neighbours|T19_|EndpointsUnderLeases|Files|T08_|Chaos)' $(TEST_FLAGS) $$(go list ./... | grep -v '/internal/xds$$')
	$(SOAK) -tags soak -run '^TestLarge' $(TEST_FLAGS) $(LARGE)
	FAIRLEAD_SOAK=$(SOAK_REFUSALS) $(SOAK) -run 'Soak(Client|Thousand|T[0-9])' $(TEST_FLAGS) ./internal/xds
	FAIRLEAD_SOAK=$(SOAK_REQUESTS) $(SOAK) -run 'SoakRequests' $(TEST_FLAGS) ./internal/xds
	$(SOAK) $(TEST_FLAGS) $(RANDOM) -rapid.checks=100 -rapid.seed=0
	go test -vet=off -count=1 -timeout 60m -v -run '$(subst $(space),|,$(DRAWS))' $(TEST_FLAGS) $(DRAWN) -rapid.checks=2000 -rapid.seed=0
	go test -vet=off -count=1 -timeout 60m -v -run 'TestTheWhole$$' $(TEST_FLAGS) ./internal/replica -rapid.checks=$(SOAK_HISTORIES) -rapid.seed=0
	FAIRLEAD_SOAK=1m go test -vet=off -p 1 -count=1 -timeout 20m -v -run 'SoakNeighbours' $(TEST_FLAGS) ./test/e2e
	FAIRLEAD_SOAK=$(SOAK_FLOODS) go test -vet=off -p 1 -count=1 -timeout 200m -v -run 'SoakT16_Floods' $(TEST_FLAGS) ./test/e2e
	FAIRLEAD_SOAK=$(SOAK_ENDPOINTS) go test -vet=off -p 1 -parallel 1 -count=1 -timeout 90m -v -run $(SOAK_SUBSCRIBE) $(TEST_FLAGS) ./test/e2e
	FAIRLEAD_SOAK=$(SOAK_CHAOS) go test -vet=off -p 1 -count=1 -timeout 90m -v -run 'SoakChaos' $(TEST_FLAGS) ./test/chaos
	FAIRLEAD_SOAK=$(SOAK_UPGRADE) go test -vet=off -tags soak -p 1 -count=1 -timeout 60m -v -run 'SoakUpgrade' $(TEST_FLAGS) ./test/e2e
	FAIRLEAD_SOAK=full go test -vet=off -tags soak -p 1 -count=1 -timeout 60m -v -run 'SoakFailover' $(TEST_FLAGS) ./test/e2e
	FAIRLEAD_SOAK=full go test -vet=off -p 1 -count=1 -timeout 120m -v -run 'SoakDeletions' $(TEST_FLAGS) ./test/e2e
	FAIRLEAD_SOAK=full go test -vet=off -p 1 -count=1 -timeout 120m -v -run 'SoakT19_' $(TEST_FLAGS) ./internal/httpapi
	FAIRLEAD_SOAK=full FAIRLEAD_SOAK_HISTORY=$(SOAK_HISTORY) go test -vet=off -p 1 -count=1 -timeout 90m -v -run $(SOAK_LARGE) $(TEST_FLAGS) ./test/e2e

.PHONY: guard-report
guard-report: ## Print what the guard rules say of every message of Envoy's API
	@go run ./test/guardreport

.PHONY: dashboards
dashboards: ## Write deploy/grafana anew, from tools/promrules/dashboards.go
	cd tools/promrules && go run . dashboards ../../deploy/grafana

.PHONY: mutants
mutants: ## Break the engine and the controls of threats, one rule at a time, and see its test fail. ARGS=05-patience.patch
	go run ./test/mutants $(ARGS)

# Without -fuzzminimizetime Go tries for a minute to make each new input smaller, and nothing new in that time: of
# inputs of some kB all the time there is.
FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## Fuzz each decoder, for FUZZTIME=30s. FUZZ=FuzzRead is one of them
	@grep -rn '^func Fuzz' --include=*_test.go internal | while IFS=: read -r file _ line; do \
		name=$${line#func }; name=$${name%%(*}; [ -z "$(FUZZ)" ] || [ "$(FUZZ)" = "$$name" ] || continue; echo "== $$name"; \
		go test -vet=off -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$(dirname "$$file")" || exit 1; done

MUTANTS ?= 3

.PHONY: mutants-sample
mutants-sample: ## The same with a few of them, which the commit's hash chooses. MUTANTS=3
	go run ./test/mutants -sample $(MUTANTS) # without the race detector, as the linters have built all

.PHONY: bench
bench: bench-go bench-page bench-grid bench-rest ## Measure everything that docs/performance.md and the README quote, for hours

.PHONY: bench-go
bench-go: ## Run the Go benchmarks, each of one part
	go test -vet=off -run '^$$' -bench . -benchmem -timeout 30m $(TEST_FLAGS) ./internal/...
	go test -vet=off -run '^$$' -bench . -benchtime 50x -timeout 10m $(TEST_FLAGS) ./test/e2e

# The grid has the xDS servers under the load of thousands of streams, on a machine of two
# cores and 24 GB; docs/performance.md. Cells are streams x clusters.
BENCH_GRID ?= 100x10,100x100,100x1000,100x10000,1000x10,1000x100,1000x1000,10000x10,10000x100,1000x100+node,1000x100+own,1000x1000+own
BENCH_OUT ?= bin/bench.jsonl
BENCH_FLAGS ?=
# A connection is a file of both sides.
XDSBENCH = ulimit -n 20000 && rm -f $(BENCH_OUT) && bin/bench/xdsbench -out $(BENCH_OUT)

.PHONY: bench-page
bench-page: $(PAGE_STAMP) ## Measure the page in Chromium, on a machine that does nothing else
	@go build -o bin/ ./cmd/fairlead
	@cd web && node_modules/.bin/vitest run --config browser/vitest.config.ts measures

.PHONY: bench-grid
bench-grid: bench-build ## Load our xDS server, the floor and the incumbent in turn, over the grid; prints the table
	$(XDSBENCH) -cells $(BENCH_GRID) $(BENCH_FLAGS)

# Of polls over REST each asks for one type: beside them are streams of one type. At rest a poll is answered and sent again after 25 s.
BENCH_REST ?= 1000x10+cds,1000x100+cds,1000x100+node+cds,10000x10+cds,10000x100+cds,10000x10+node+cds

.PHONY: bench-rest
bench-rest: BENCH_OUT = bin/bench-rest.jsonl
bench-rest: bench-build ## Load our xDS server by polls over REST and by streams in turn; prints the table
	$(XDSBENCH) -cells $(BENCH_REST) -servers fairlead -protocols sotw,rest -at-rest 50s $(BENCH_FLAGS)
	bin/bench/xdsbench -report $(BENCH_OUT) -detail

.PHONY: bench-quick
bench-quick: BENCH_OUT = bin/bench-quick.jsonl
bench-quick: bench-build ## The same in less than a minute, with a few small cells
	$(XDSBENCH) -cells 100x100,200x500 -rounds 1 -changes 4 -idle-wait 0s $(BENCH_FLAGS)

# The clients of two of our servers with one database: changes, nodes that come and go, and one server that is killed. On one machine, where 40,000
# streams have to share connections: each is a file, of which a process has 20,000.
BENCH_FLEET ?= 1000x100,10000x100,40000x100+shared

.PHONY: bench-fleet
bench-fleet: BENCH_OUT = bin/bench-fleet.jsonl
bench-fleet: bench-build ## Have clients of two xDS servers come and go for an hour, with a change a second, and kill one server; prints the table
	$(XDSBENCH) -fleet -cells $(BENCH_FLEET) -protocols delta -rounds 1 $(BENCH_FLAGS)

.PHONY: bench-build
bench-build:
	@go build -o bin/bench/ ./cmd/fairlead ./cmd/xds
	@cd bench && go build -o ../bin/bench/ ./cmd/...

.PHONY: lint lint-ready
lint-ready: $(GOLANGCI)
lint: $(GOLANGCI) ## Run the linters
	$(GOLANGCI) run ./...
	cd bench && $(GOLANGCI) run --config ../.golangci.yml ./...
	cd clients/go && $(GOLANGCI) run --config ../../.golangci.yml ./...
	cd test/compose && $(GOLANGCI) run --config ../../.golangci.yml ./...
	cd tools/promrules && $(GOLANGCI) run --config ../../.golangci.yml ./...
	cd tools/release && $(GOLANGCI) run --config ../../.golangci.yml ./...
	cd tools/chart && $(GOLANGCI) run --config ../../.golangci.yml ./...

# What npm installs has its list's hash in its stamp: another list is installed anew.
SPECTRAL_STAMP := $(TOOLS)/spectral/.installed-$(shell cat tools/contract/package-lock.json | cksum | cut -d ' ' -f 1)

.PHONY: contract
contract: $(SPECTRAL_STAMP) tools ## Check openapi.yaml: the house's rules, and what it breaks. BASE=COMMIT to compare with another one
	@TOOLS=$(TOOLS) tools/contract/lint

# How many requests schemathesis makes up of an operation, and for how many seconds each of its three runs lasts at most; the seed makes
# a run repeatable. FAIRLEAD_SCHEMATHESIS_EXAMPLES=1000 FAIRLEAD_SCHEMATHESIS_SECONDS=3600 is a long run.
export FAIRLEAD_SCHEMATHESIS_EXAMPLES ?= 5
export FAIRLEAD_SCHEMATHESIS_SECONDS ?= 15
export FAIRLEAD_SCHEMATHESIS_SEED ?= 1

.PHONY: schemathesis
schemathesis: ## Ask a running API server what openapi.yaml allows and forbids, with all checks
	go test -vet=off -count=1 -timeout 120m -v $(TEST_FLAGS) ./test/contract

$(SPECTRAL_STAMP): tools/contract/package.json tools/contract/package-lock.json tools/contract/.npmrc
	@command -v npm >/dev/null || { echo "npm is missing: install Node, which checks openapi.yaml with spectral." >&2; exit 1; }
	@rm -rf $(TOOLS)/spectral && mkdir -p $(TOOLS)/spectral && cp $^ $(TOOLS)/spectral/
	@cd $(TOOLS)/spectral && npm ci --loglevel=error || { echo "spectral could not be installed: npm needs the network, or a cache that has it." >&2; exit 1; }
	@touch $@

TYPESCRIPT := $(TOOLS)/typescript
TYPESCRIPT_STAMP := $(TYPESCRIPT)/.installed-$(shell cat clients/typescript/package-lock.json | cksum | cut -d ' ' -f 1)

PYTHON := $(TOOLS)/python
PYTHON_STAMP := $(PYTHON)/.installed-$(shell cat clients/python/generator.txt | cksum | cut -d ' ' -f 1)

# Each generator takes one processor. That of the Python client makes its folder anew, which "go generate" must not meet on its way.
.PHONY: generate generate-go generate-typescript generate-python
generate: tools ## Write the generated files anew; needs Node with npm, and Python with pip
	@$(MAKE) -j2 generate-python generate-typescript web
generate-go:
	go generate ./...
	cd clients/go && go generate ./...
generate-typescript: $(TYPESCRIPT_STAMP)
	@PATH="$(TYPESCRIPT)/node_modules/.bin:$$PATH" npm run --silent --prefix clients/typescript generate
generate-python: $(PYTHON_STAMP) | generate-go
	@PATH="$(PYTHON)/bin:$$PATH" PYTHONPATH=$(PYTHON) PYTHONDONTWRITEBYTECODE=1 python3 clients/python/generate

# The page's libraries are beside the tree, whose Go programs they are not, and linked into it.
PAGE := $(TOOLS)/web
PAGE_STAMP := $(PAGE)/.installed-$(shell cat web/package-lock.json | cksum | cut -d ' ' -f 1)

$(PAGE_STAMP): web/package.json web/package-lock.json web/.npmrc
	@command -v npm >/dev/null || { echo "npm is missing: install Node, which builds the page." >&2; exit 1; }
	@rm -rf $(PAGE) && mkdir -p $(PAGE) && cp $^ $(PAGE)/
	@cd $(PAGE) && npm ci --loglevel=error || { echo "the page's libraries could not be installed: npm needs the network, or a cache that has it." >&2; exit 1; }
	@ln -sfn ../.bin/web/node_modules web/node_modules
	@touch $@

.PHONY: web
web: $(PAGE_STAMP) ## Build the page into web/dist.zip, which the servers embed; needs Node with npm
	@cd web && node_modules/.bin/vite build --logLevel warn --outDir $(PAGE)/dist --emptyOutDir
	@go run ./web/pack $(PAGE)/dist web/dist.zip

.PHONY: page-check page-types page-lint page-unit
page-check: $(PAGE_STAMP) ## Check the page: types, linter, unit tests
	@$(MAKE) -j3 page-types page-lint page-unit
page-types:
	@cd web && node_modules/.bin/tsc --noEmit
page-lint:
	@cd web && node_modules/.bin/eslint .
page-unit:
	@cd web && node_modules/.bin/vitest run --reporter=dot

# In CI every page is looked at in its turn, in one of light, dark and phone, which the commit's hash chooses; by hand in all of them.
.PHONY: page-browser
page-browser: $(PAGE_STAMP) ## Try the page in Chromium, with the real server and a real Envoy. SPEC=session
	@go build -ldflags=-s -o bin/ ./cmd/fairlead # without what a debugger reads
	@looks=(light dark phone); commit=$$(git rev-parse HEAD 2>/dev/null || date +%s%N | sha256sum); \
		if [ "$(TURN)" != all ]; then export FAIRLEAD_LOOK=$${looks[$$((16#$${commit:0:6} % 3))]}; fi; \
		cd web && node_modules/.bin/vitest run --config browser/vitest.config.ts $(or $(SPEC),--exclude '**/measures.spec.ts' $(if $(call turn_of,$(WITH_PAGES)),,--exclude '**/pages.spec.ts'))

.PHONY: screenshots
screenshots: ## Make the pictures in docs/screenshots anew
	@FAIRLEAD_SCREENSHOTS=1 $(MAKE) page-browser SPEC=pages

$(TYPESCRIPT_STAMP): clients/typescript/package.json clients/typescript/package-lock.json clients/typescript/.npmrc
	@command -v npm >/dev/null || { echo "npm is missing: install Node, which generates the TypeScript client." >&2; exit 1; }
	@rm -rf $(TYPESCRIPT) && mkdir -p $(TYPESCRIPT) && cp $^ $(TYPESCRIPT)/
	@cd $(TYPESCRIPT) && npm ci --loglevel=error || { echo "openapi-typescript could not be installed: npm needs the network, or a cache that has it." >&2; exit 1; }
	@touch $@

$(PYTHON_STAMP): clients/python/generator.txt
	@command -v python3 >/dev/null || { echo "python3 is missing: install Python 3.11 or later with pip, which generates the Python client." >&2; exit 1; }
	@rm -rf $(PYTHON) && mkdir -p $(PYTHON)
	@python3 -m pip install -q --disable-pip-version-check --no-deps --only-binary=:all: --target $(PYTHON) -r $< || { echo "openapi-python-client could not be installed: pip needs the network, or a cache that has it." >&2; exit 1; }
	@touch $@

# Of all files: one that comes or goes is a change too.
CHECKSUMS := find $(GENERATED) -type f -not -path '*/__pycache__/*' | sort | xargs cksum

.PHONY: verify
verify: ## Generate anew and fail if a generated file changes
	@before=$$($(CHECKSUMS)); $(MAKE) generate; after=$$($(CHECKSUMS)); \
	if [ "$$before" != "$$after" ]; then diff <(echo "$$before") <(echo "$$after") || true; \
		echo "These generated files were not up to date: commit what 'make generate' writes." >&2; exit 1; fi
	@if git rev-parse --git-dir >/dev/null 2>&1; then git diff --exit-code -- $(GENERATED); fi

.PHONY: compose-env
compose-env: ## Write passwords and the images' digests for docker-compose.yml into .env
	@$(dir $(abspath $(firstword $(MAKEFILE_LIST))))deploy/compose-env

.PHONY: compose-certs
compose-certs: ## Sign new certificates for the running compose file; no server needs a restart
	docker compose run --rm certs
	docker compose exec --user postgres postgres pg_ctl reload

# They need root, podman, buildah, runc, netavark, aardvark-dns, iptables and debootstrap, and no image registry.
.PHONY: compose-test debian-test
debian-test: ## Install the Debian package in a machine of podman, with systemd and Postgres, and upgrade it
	cd test/compose && go test -vet=off -count=1 -timeout 30m -v -run 'TestDebian' $(TEST_FLAGS) ./podman
compose-test: ## Run docker-compose.yml with podman, TLS everywhere, to the first routed request, and upgrade it
	cd test/compose && go test -vet=off -count=1 -timeout 30m -v -run 'TestCompose' $(TEST_FLAGS) ./podman

# The builder's stand-in is made of a few files of this machine, so neither debootstrap nor a network is needed.
.PHONY: image-test
image-test: ## Build the image twice with podman, as root: the same digest, and an SPDX document of its files
	cd test/compose && $(PLAIN) -count=1 -timeout 15m -run 'Image' $(TEST_FLAGS) ./podman

.PHONY: clean
clean: ## Remove what was built; what was fetched stays
	rm -rf bin .bin

.PHONY: tools
tools: ## Build the code generators into .bin/
	@mkdir -p $(TOOLS)
	@go build -C tools -o $(TOOLS)/ tool

# The version is in the target's own stamp: another one is installed anew.
$(GOLANGCI): $(TOOLS)/.golangci-lint-$(GOLANGCI_VERSION)
$(TOOLS)/.golangci-lint-$(GOLANGCI_VERSION):
	@mkdir -p $(TOOLS)
	@rm -f $(TOOLS)/.golangci-lint-*
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	@touch $@

.PHONY: race-ready
race-ready:
	@command -v $${CC:-gcc} >/dev/null || { echo "The race detector needs a C compiler: install gcc (Debian: apt-get install gcc libc6-dev), or name one in CC." >&2; exit 1; }
