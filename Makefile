# For `make gpu` PYTHON is the interpreter whose torch sees your GPU, and not the one that .venv is made with.
ifeq ($(MAKECMDGOALS),gpu)
HOST := $(PYTHON)
override undefine PYTHON
endif
DEVICE ?= cuda
# Python 3.11 or newer; override with `make PYTHON=/path/to/python`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN = .venv/bin

.PHONY: reproduce test test-all unit lint benchmark gpu clean

reproduce: .venv/installed
	$(BIN)/trainbugs run PyTorch-115607 SO-60335387/digits --figures

test: lint
	$(BIN)/pytest -n 2 -m "not real"
	$(BIN)/pytest -m real --proof-within 180

test-all: lint
	$(BIN)/pytest -n 2 -m "not real"
	$(BIN)/pytest -m real --full-proof

unit: .venv/installed
	$(BIN)/pytest -n 2 -m "not real and not stress"

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini tests
	PYTHONPATH=tests $(BIN)/lint-imports --no-logo

benchmark: .venv/installed
	$(BIN)/python benchmarks/benchmark.py

gpu: .venv/installed
	$(BIN)/python benchmarks/gpu.py --device $(DEVICE) $(if $(HOST),--python $(HOST)) $(if $(DATA),--data $(DATA)) $(if $(JOBS),-j $(JOBS))

.venv/installed: setup.cfg pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet 'uv>=0.9,<1'
	@# In a sixth of pip's time; by pip where uv does not know your package index.
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[test]' || \
		$(BIN)/pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf .venv results figures
