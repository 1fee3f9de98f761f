# `make demo` shows the main job; `make test` runs every check and test. Both set up what they need (see README).
.PHONY: help setup harnesses demo check test unit live gen fuzz bench clean
.DEFAULT_GOAL := help
PY := .venv/bin/python
export UV_NO_PROGRESS := 1

help:
	@echo 'make demo    run a real Codex through Checkrein on a scripted model (no account needed)'
	@echo 'make test    every check and every test, the live ones included'
	@echo 'make check   lint, types, import floors, generated files'
	@echo 'make unit    the tests that need no real harness'
	@echo 'make live    the tests that drive real harnesses'
	@echo 'make gen     write the generated files again'
	@echo 'make bench   measure; prints a table, writes docs/performance.md'

setup:
	@scripts/setup

harnesses: setup
	@scripts/harnesses

demo:
	@scripts/setup demo
	@.venv/bin/checkrein demo

check: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(PY) scripts/generate.py --check

gen: setup
	$(PY) scripts/generate.py

unit: setup
	$(PY) -m pytest -m 'not live' -n 2 -rs

live: harnesses
	@scripts/setup demo
	$(PY) -m pytest -m live -rs

test: check unit live

bench: setup
	$(PY) -m bench

clean:
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
