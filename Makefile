# Shortcuts for those who work on the lab. PYTHON may name another interpreter.
PYTHON ?= python

.PHONY: run test integration nightly check bench gallery site tour

run:
	$(PYTHON) -m experiments run agents=ab_vs_minimax

test:
	$(PYTHON) -m pytest

integration:
	$(PYTHON) -m pytest -m integration

nightly:
	PYTHON=$(PYTHON) bash .ci/nightly

check:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

bench:
	$(PYTHON) -m experiments bench
	$(PYTHON) benchmarks/speed.py

gallery:
	$(PYTHON) docs/pictures.py gallery

build/extra/gallery:
	$(MAKE) gallery

site: | build/extra/gallery
	$(PYTHON) -m sphinx -q -E -W --keep-going -c docs -d build/doctrees . site

tour:
	$(PYTHON) docs/pictures.py tour
