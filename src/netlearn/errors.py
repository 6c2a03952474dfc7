"""The exceptions netlearn raises: one sentence each, naming what was wrong and what to do."""


class InputError(ValueError):
    """An argument, array or file that cannot be used; the message says which, what is allowed, what came."""


class BudgetError(InputError):
    """A computation whose size is known beforehand to exceed its stated budget."""


class MissingExtraError(ImportError):
    """An optional dependency is absent; the message carries the line to type."""

    def __init__(self, package: str, extra: str, purpose: str):
        super().__init__(
            f"{purpose} needs {package}, which is not installed: type pip install '.[{extra}]' in the folder of "
            f"netlearn's source, or pip install {package.replace('_', '-')} anywhere."
        )
