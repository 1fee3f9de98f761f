# `make test` runs every check and test, and sets up what it needs.
.PHONY: help setup harnesses check test unit live gen clean
.DEFAULT_GOAL := help
PY := .venv/bin/python
export UV_NO_PROGRESS := 1

help:
	@echo 'make test    every check and every test, the live ones included'
	@echo 'make check   lint, types, import floors, generated files'
	@echo 'make unit    the tests that need no real harness'
	@echo 'make live    the tests that drive real harnesses'
	@echo 'make gen     write the generated files again'

setup:
	@scripts/setup

harnesses: setup
	@scripts/harnesses

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
	@if ls tests/live/test_*.py >/dev/null 2>&1; then $(PY) -m pytest -m live -rs; else echo 'no live tests yet'; fi

test: check unit live

clean:
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
