# Shortcuts for those who work on the lab. PYTHON may name another interpreter.
PYTHON ?= python

.PHONY: run test test-all check bench site

run:
	$(PYTHON) -m experiments run agents=ab_vs_minimax

test:
	$(PYTHON) -m pytest

test-all:
	$(PYTHON) -m pytest -m "slow or not slow"

check:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

bench:
	$(PYTHON) -m experiments bench
	$(PYTHON) benchmarks/speed.py

site:
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --strict
