"""The version of the catalogue: it counts up when a bug is added or retired,
or when what is run or counted changes.

CHANGELOG.md says what each version changed. Records from before versions were counted are of
version 1.
"""

CATALOGUE_VERSION = 2
FIRST_VERSION = 1
