"""A program of the user's own under the sanitizer: what to run it with, and what was seen."""
