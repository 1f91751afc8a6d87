"""`python -m runner` is the console command `trainbugs`."""

from runner.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
