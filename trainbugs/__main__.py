"""The entry point of the console command `trainbugs`, and of `python -m trainbugs`."""

import sys

from trainbugs import interrupts
from trainbugs.shadowing import shadowed


def main() -> int:
    """Run the command line; returns the exit status."""
    interrupts.install()
    problem = shadowed()
    if problem:
        print(f"trainbugs: {problem}", file=sys.stderr)
        return 2
    try:
        from trainbugs.cli.main import main as run

        status = run()
    except KeyboardInterrupt:  # while modules are loaded
        print("\ntrainbugs: interrupted", file=sys.stderr)
        status = interrupts.STATUS
    if status == interrupts.STATUS:
        interrupts.ignore()
    return status


if __name__ == "__main__":
    raise SystemExit(main())
