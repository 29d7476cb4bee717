# Two commands do all the set-up: `make demo` and `make test`. Both make .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench zoo clean

demo: $(STAMP)
	@rm -rf waitproof-results/demo
	@$(BIN)/waitproof run builtin landingai-ade --profile quick --seed 20261201 --out waitproof-results/demo; \
	  status=$$?; test $$status -eq 0 -o $$status -eq 1 || exit $$status
	@$(BIN)/waitproof report waitproof-results/demo -o waitproof-results/demo/report.html

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python properties/selftests/check_wheel_types.py

bench: $(STAMP)
	$(BIN)/python -m pytest properties/benchmarks -o python_files='bench_*.py' --benchmark-only

zoo: $(STAMP)
	$(BIN)/waitproof zoo

# Installed again whenever what is to be installed changes.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,lint]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist *.egg-info waitproof-results .pytest_cache .mypy_cache .ruff_cache .hypothesis
