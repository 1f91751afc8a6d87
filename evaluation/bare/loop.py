"""The adapter of no detector: runs the program with nothing but the launcher's stopwatch."""

from detector_kit import launch, main

main(lambda target, state: launch(target, None))
