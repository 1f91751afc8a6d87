#!/bin/sh
# The steps inside of both images: the packages of the lock, and trainbugs from a folder.
#   install.sh FOLDER [ENVIRONMENT]
# With an environment it also builds this, in $TRAINBUGS_CACHE.
set -eu
python -m pip install --no-cache-dir --require-hashes -r "$1/containers/requirements.txt"
python -m pip install --no-cache-dir --no-deps "$1"
if [ -n "${2:-}" ]; then
    trainbugs env build "$2"
fi
