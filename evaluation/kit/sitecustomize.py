"""Python imports a module of this name at its start: the guard of the catalogue begins here."""

import catalogue_guard

catalogue_guard.install()
