"""Environments: from a folder under environments/ to an interpreter and a device."""
