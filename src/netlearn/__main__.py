"""`python -m netlearn` is the command `netlearn`."""

from netlearn.cli import main

main()
