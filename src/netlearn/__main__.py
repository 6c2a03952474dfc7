"""`python -m netlearn` is the command `netlearn`."""

from netlearn.cli import main

if __name__ == "__main__":
    main()
