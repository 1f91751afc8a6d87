"""The entry point of `python -m runner`, which is the console command `trainbugs`."""

from trainbugs.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
