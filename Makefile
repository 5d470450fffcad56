# The two commands: `make app` and `make test`. Each makes .venv and installs what it needs.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PORT ?= 8501

.PHONY: app test check format bench clean

app: $(VENV)/.app
	$(BIN)/python -m streamlit run app.py --server.port $(PORT)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --cov --cov-report=term $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.app
	$(BIN)/python -m eval bench compose

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Mnemoscope needs Python 3.11 or newer; set PYTHON=python3.x"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: $(VENV)/bin/python requirements.txt
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.app requirements-dev.txt
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@touch $@
