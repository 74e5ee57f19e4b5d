# The user's verbs. `make` prints them; work longer than a line or two is in bin/.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
MAKEOVERRIDES := # tests run make themselves, with variables of their own

# What make's command line sets. Taken literally, and before any $(shell …), to which newer makes hand all of it: make would
# otherwise expand $(...) in a value given by the user.
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name)))
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
VARIABLES := $(shell cut -f 1 bin/variables.tsv)
# What only the user's shell sets, asked before all of them become the Makefile's own.
EXPORTED := $(foreach name,$(VARIABLES),$(if $(filter environment,$(origin $(name))),$(name)))
# What make's command line says and no verb takes is refused.
quoted = '$(subst ','\'',$(1))'
ifneq ($(GIVEN),)
ifneq ($(shell bin/variables.sh $(call quoted,$(or $(MAKECMDGOALS),help)) $(foreach name,$(GIVEN),$(call quoted,$(name))) || echo refused),)
$(error nothing was started)
endif
endif
$(foreach name,$(VARIABLES),$(if $(filter-out undefined,$(origin $(name))),$(eval override $(name) := $$(value $(name)))$(eval export $(name))))

##@ Measure

RUNS := $(filter run-%,$(shell awk -F '\t' '$$1 == "APPROACH" { print $$3 }' bin/variables.tsv))
.PHONY: $(RUNS)
$(RUNS): ## Compare approaches under that load generator: CONCURRENCY=1000, or under vegeta RATE=500 [APPROACH=headline|all|NAMES] [ENDPOINT= DURATION= REPEATS= DELAY= SIZE= JDK= GC= HTTP_CLIENT= STYLE=lean|idiomatic]
	@bin/run $@

.PHONY: sweep
sweep: ## Compare approaches at several loads, in blocks: [CONCURRENCY=500,2000 | RATE=100,200] [REPEATS=5 TOOL=ab APPROACH= ...]; PLAN=1 only prints the plan
	@bin/run sweep

.PHONY: scenarios scenario
scenarios: ## The scenarios by name, what each needs, and how much of it this host can hold
	@bin/run scenarios
scenario: ## Run a scenario: NAME=smoketest [SCALE=0.02|auto] [APPROACH= DURATION= WARMUP_CAP= REPEATS=]
	@bin/run scenario

.PHONY: papers reproduce
papers: ## The published experiments by name: source, loads, claims, and the scenarios that run them
	@bin/run papers
reproduce: ## Run a published experiment and answer its claims: PAPER=virtual-threads-hey [SCALE= DURATION=60s WARMUP_CAP= REPEATS=]; PLAN=1 only prints the plan
	@bin/run reproduce

.PHONY: finish
finish: ## Judge and sum up killed experiments; with RESUME=latest, or a folder of results/, also make the missing blocks
	@bin/run finish

.PHONY: smoke
smoke: ## Every approach under low load, in under three minutes; fails if a run is invalid
	@APPROACH=all CONCURRENCY=50 DURATION=4s WARMUP_CAP=1s SIZE=smoke bin/run run-hey

.PHONY: report
report: ## Make an experiment's report.html again: RESUME=latest (the default), or a folder of results/
	@unset $(filter-out RESUME,$(EXPORTED)); bin/run report

##@ The lab

.PHONY: doctor
doctor: ## Check what this host has and lacks, with a cure for each lack; proves that container metrics arrive
	@bin/doctor

.PHONY: up
up: ## Start monitoring, the backend and the headline approaches, as `docker compose up` does
	@bin/up

.PHONY: down
down: ## Stop and remove every container of the lab; results and recorded metrics stay
	@bin/down

.PHONY: clean
clean: ## Remove the lab's containers, images and recorded metrics; results stay
	@bin/down --everything

##@ Development

.PHONY: check test test-all
check: ## What needs no container of the lab, in three minutes: the package's tests, host scripts, dashboards, rules
	@tests/run check
test: ## `make check`, Java's tests, conformance of every image, one lab from up to down, a run that must be valid: 12 minutes
	@tests/run
test-all: ## The longer tests, in parts of at most an hour: PART=valid|properties|live|provocations|hosts|conformance|axes|adding|faults|observer|prometheus3; continues after an interruption
	@tests/all

.PHONY: lint
lint: ## hadolint, shellcheck, yamllint, dclint, actionlint, zizmor, ruff, mypy, import-linter, Spotless, promtool, licences, pages that repeat the code
	@tests/lint

.PHONY: bench-observer
bench-observer: ## CPU that Prometheus, cAdvisor and a viewer cost: 13 minutes, or five with SHORT=1; fails above 5 % of one CPU
	@tests/benchmarks/observer

.PHONY: bench-tests bench-verdict bench-healthy bench-style bench-floor bench-internals bench-wait
bench-tests: ## How long `make test` takes and how often it fails: TRIES=10, two hours; continues after an interruption
	@tests/benchmarks/tests
bench-verdict: ## How often default runs are valid and how long they take: TRIES=10, some hours; continues after an interruption
	@tests/benchmarks/verdict
bench-healthy: ## How often runs that nothing disturbs are valid, under each tool: TRIES=3, an hour and a half; continues after an interruption
	@tests/benchmarks/healthy
bench-style: ## CPU per request in both styles, and how the style changes the differences between approaches: TRIES=3, two hours; continues after an interruption
	@tests/benchmarks/style
bench-floor: ## What the lab claims of an approach against itself, loaded in turn: TRIES=12 sweeps of five blocks, four hours; continues after an interruption
	@tests/benchmarks/slices
bench-internals: ## CPU per request with settings of servers, clients and the JVM changed one by one, loaded in turn: five hours; continues after an interruption
	@tests/benchmarks/internals
bench-wait: ## What a wait costs without HTTP: platform threads, virtual ones and an event loop, with and without a time-out: a few minutes
	@tests/benchmarks/waiting/run

.PHONY: keep-published
keep-published: ## Put what results/ has of PAPER into loadgen/published/measured/, and write docs/reproduced.md
	@docs/keep-published

.PHONY: dashboards
dashboards: ## Write grafana/dashboards/ again from grafana/src/
	@grafana/write

.PHONY: help
help: ## This list; VARIABLE=RATE tells of a variable
	@[ -z "$${VARIABLE:-}" ] || bin/variables.sh any "$$VARIABLE"
	@[ -z "$${VARIABLE:-}" ] || awk -F ' [|] ' '$$1 == "| `" ENVIRON["VARIABLE"] "`" && NF == 3 { sub(/ [|]$$/, "", $$3); print ENVIRON["VARIABLE"] ": " $$2 ". Default: " $$3 "." }' README.md docs/interfaces.md
	@[ -z "$${VARIABLE:-}" ] || awk -F '\t' '$$1 == ENVIRON["VARIABLE"] { printf "Example: %s=%s. Verbs: %s\n", $$1, $$2, $$3 }' bin/variables.tsv
	@[ -n "$${VARIABLE:-}" ] || awk -v runs="$(RUNS)" 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^([a-z-]+|\$$\(RUNS\)):.*## / {sub(/\$$\(RUNS\)/, runs); printf "  %-14s %s\n", $$1, $$2}' Makefile
