"""The adapter of no detector: runs the program by itself, and tells the seconds of its process."""

from detector_kit import ToolError, error_line, main, run


def check(target, state):
    status, seconds, stderr = run(
        [target.python, target.script, *target.arguments], target.directory, target.timeout_s
    )
    if status:
        raise ToolError(f"the program ended with {status}: {error_line(stderr)}")
    return {"training": {"seconds": seconds, "of": "process"}}


main(check)
