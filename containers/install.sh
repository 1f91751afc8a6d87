#!/bin/sh
# The steps inside of both images: the packages of the lock, and trainbugs from a folder.
#   install.sh FOLDER VENV [ENVIRONMENT]
# With an environment it also builds this, in $TRAINBUGS_CACHE.
set -eu
# A program may not read trainbugs, and has to read the modules of its Python: they lie apart.
python -m venv "$2"
PATH="$2/bin:$PATH"
python -m pip install --no-cache-dir --require-hashes -r "$1/containers/requirements.txt"
python -m pip install --no-cache-dir --no-deps "$1"
if [ -n "${3:-}" ]; then
    trainbugs env build "$3"
fi
