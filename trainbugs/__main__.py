"""The entry point of the console command `trainbugs`, and of `python -m trainbugs`."""

import sys

from trainbugs.shadowing import shadowed


def main() -> int:
    """Run the command line; returns the exit status."""
    problem = shadowed()
    if problem:
        print(f"trainbugs: {problem}", file=sys.stderr)
        return 2
    from trainbugs.cli.main import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
