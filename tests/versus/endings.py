"""Methods that do not end well, to be run in processes of their own."""

import os
import time

from benchmarks.versus.methods import Found, TooLargeError


def spins(problem, watch):
    while True:
        pass


def sleeps(problem, watch):
    time.sleep(3600)


def raises(problem, watch):
    raise ArithmeticError("it does not add up\nand goes on")


def is_too_large(problem, watch):
    raise TooLargeError("7 by 7")


def vanishes(problem, watch):
    os._exit(7)


def finds_nothing(problem, watch):
    return Found(note="looked everywhere")


def is_infinite(problem, watch):
    return Found(lambda X: abs(X[:, 0]) * float("inf"))


def is_right(problem, watch):
    watch.look(problem.truth)
    return Found(problem.truth)
