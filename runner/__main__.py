"""The entry point of `python -m runner`, which is the console command `trainbugs`."""

from trainbugs.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
