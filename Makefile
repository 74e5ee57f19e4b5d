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
$(RUNS): ## Compare once: CONCURRENCY=1000, or run-vegeta RATE=500; 10 min
	@bin/run $@

.PHONY: sweep
sweep: ## Compare with intervals: CONCURRENCY=500,2000; 1 h (PLAN=1: plan)
	@bin/run sweep

.PHONY: compare
compare: ## Compare settings: APPROACH= CONCURRENCY= A="GC=g1" B=""; 25 min
	@bin/run compare

.PHONY: capacity
capacity: ## How much each holds: SLO='p99<1200ms,errors<0.1%'; 2 h
	@bin/run capacity

.PHONY: flip
flip: ## Switch from A to B, and when not: RATE=200 SLO= A= B=; 1-2 h
	@bin/run flip

.PHONY: scenarios scenario
scenarios: ## List the scenarios, and how much of each this host holds
	@bin/run scenarios
scenario: ## Run a scenario: NAME=smoketest, SCALE=auto; 5 to 30 min
	@bin/run scenario

.PHONY: published reproduce
published: ## List the published benchmarks
	@bin/run published
reproduce: ## Run one, check its claims: BENCHMARK=virtual-threads-hey; 20 min+
	@bin/run reproduce

.PHONY: finish
finish: ## Judge killed experiments; RESUME=latest also runs what is missing
	@bin/run finish

.PHONY: smoke
smoke: ## Run every approach under low load, fail if a run is invalid; 3 min
	@APPROACH=all CONCURRENCY=50 DURATION=4s WARMUP_CAP=1s SIZE=smoke bin/run run-hey

.PHONY: report
report: ## Write report.html again: RESUME=latest; BESIDE=NAME: print both
	@unset $(filter-out RESUME BESIDE,$(EXPORTED)); bin/run report

##@ The lab

.PHONY: prune
prune: ## Remove all but the newest experiments, after asking: KEEP=20
	@bin/prune

.PHONY: doctor
doctor: ## Check this host, with a cure for each lack; 1 min
	@bin/doctor

.PHONY: up
up: ## Start monitoring, the backend and the headline approaches
	@bin/up

.PHONY: down
down: ## Stop and remove the containers; results and recorded metrics stay
	@bin/down

.PHONY: clean
clean: ## Remove containers, images and recorded metrics; results stay
	@bin/down --everything

# The verbs of users, or with an empty argument of developers.
list = awk -v users="$(1)" -v runs="$(RUNS)" 'BEGIN { FS = ":.*\#\# " } /^\#\#@/ { shown = ($$0 ~ /Develop/) != (users != ""); if (shown) printf "\n%s\n", substr($$0, 5) } \
  shown && /^([a-z-]+|\$$\(RUNS\)):.*\#\# / { if (sub(/\$$\(RUNS\)/, runs)) $$1 = $$1 "\n            "; printf "  %-*s %s\n", users ? 10 : 15, $$1, $$2 }' Makefile

.PHONY: help help-dev
help: ## This list; VARIABLE=RATE explains a variable
	@[ -z "$${VARIABLE:-}" ] || bin/variables.sh any "$$VARIABLE"
	@[ -z "$${VARIABLE:-}" ] || awk -F ' [|] ' '$$1 == "| `" ENVIRON["VARIABLE"] "`" && NF == 3 { gsub(/\[|\]\([^)]*\)/, "", $$0); sub(/ [|]$$/, "", $$3); print ENVIRON["VARIABLE"] ": " $$2 ". Default: " $$3 "." }' docs/reference/variables.md
	@[ -z "$${VARIABLE:-}" ] || awk -F '\t' '$$1 == ENVIRON["VARIABLE"] { printf "Example: %s=%s. Verbs: %s\n", $$1, $$2, $$3 }' bin/variables.tsv
	@[ -n "$${VARIABLE:-}" ] || $(call list,1)
help-dev: ## The verbs for those who change the lab
	@$(call list,)

##@ Development

.PHONY: check test test-all
check: ## Test what needs no container; 2 min
	@tests/run check
test: ## The same, Java, conformance, one lab, one valid run; 11 min
	@tests/run
test-all: ## The longer tests: PART=live (tests/all has all); 1 h each
	@tests/all

.PHONY: lint
lint: ## Run the linters, and compare pages with the code
	@tests/lint

.PHONY: bench-observer
bench-observer: ## CPU of Prometheus, cAdvisor and a viewer; 13 min, SHORT=1: 5
	@tests/benchmarks/observer

.PHONY: bench-tests bench-verdict bench-healthy bench-floor bench-internals bench-wait
bench-tests: ## How often `make test` fails: TRIES=10; 2 h
	@tests/benchmarks/tests
bench-verdict: ## How often default runs are valid: TRIES=10; hours
	@tests/benchmarks/verdict
bench-healthy: ## How often undisturbed runs are valid, by tool: TRIES=3; 1.5 h
	@tests/benchmarks/healthy
bench-floor: ## An approach against itself, in turn: TRIES=12; 4 h
	@tests/benchmarks/slices
bench-internals: ## CPU per request by style, server, client and JVM; 6 h
	@tests/benchmarks/internals
bench-wait: ## What a wait costs without HTTP; minutes
	@tests/benchmarks/waiting/run

.PHONY: keep-published
keep-published: ## Keep the results of BENCHMARK, and write reproduced.md
	@docs/tools/keep-published

.PHONY: dashboards
dashboards: ## Write grafana/dashboards/ from grafana/src/
	@grafana/write
