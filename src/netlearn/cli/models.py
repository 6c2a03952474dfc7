"""Model files as commands take them: a result that `learn` left, or a network alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from safetensors import safe_open

from netlearn.certify import Certificate, certify
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.result import LearnResult, named_outputs
from netlearn.source import FileSource
from netlearn.source.recipe import Recipe
from netlearn.source.tables import Table, open_table

SUFFIX = (".safetensors",)


@dataclass(frozen=True)
class Model:
    """A network with what its file tells beside it.

    Attributes
    ----------
    path : str
    network : ShallowNetwork
    names : tuple of str
        Of the features; empty where they are not known.
    targets : tuple of str
        Names of the outputs; empty where they are not known.
    certificate : Certificate or None
    result : LearnResult or None
        All of the result, where the file holds one.
    recipe : Recipe or None
        What is done to the columns of a table; None where the file does not tell.
    """

    path: str
    network: ShallowNetwork
    names: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    certificate: Certificate | None = None
    result: LearnResult | None = None
    recipe: Recipe | None = None

    @classmethod
    def load(cls, path: str) -> "Model":
        """Read either kind of file."""
        network = ShallowNetwork.load(path)
        with safe_open(path, framework="numpy") as opened:
            if opened.metadata()["format"] == "netlearn.ShallowNetwork":
                return cls(path, network)
        result = LearnResult.load(path)
        targets = result.output_names if result.target else ()
        return cls(path, network, result.names, targets, result.certificate, result, result.recipe)

    def recheck(self, X, y, failure_prob: float) -> Certificate:
        """Certify the network on rows that are refused where they are known to have taught it."""
        if self.result is not None:
            return self.result.recheck(X, y, failure_prob=failure_prob)
        return certify(self.network, X, y, failure_prob=failure_prob)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs, known or made up."""
        return named_outputs(self.targets, self.network.n_outputs)

    def rows(
        self,
        data: str,
        target: Sequence[str] | None,
        *,
        labels: bool,
        missing: str | None = None,
        may_lack: bool = False,
    ) -> FileSource:
        """Open a table for this network: by names where both have them, else by the order of columns.

        With `labels`, a target that was not given are the columns that are called as the model's own outputs; without,
        such columns are no features. `missing` is the policy for missing values, None that of the recipe; labels that
        `may_lack` are no such values.
        """
        table = open_table(data)
        recipe = self._recipe(table.names or ())
        how: dict[str, Any] = {"recipe": recipe, "missing": missing, "labels_may_lack": may_lack}
        if labels:
            return self._with_labels(data, table, target, how)
        if table.names is not None and not recipe.columns:
            how["features"] = [name for name in table.names if name not in self.targets]
        return FileSource(data, [], **how)

    def _recipe(self, columns: Sequence[str]) -> Recipe:
        if self.recipe is not None:
            return self.recipe
        d = self.network.n_features
        return Recipe(self.names if columns else (), ((),) * d)

    def _with_labels(
        self, data: str, table: Table, target: Sequence[str] | None, how: dict[str, Any]
    ) -> FileSource:
        m = self.network.n_outputs
        columns: Sequence[str | int] | None = target
        if not columns:
            if self.targets and set(self.targets) <= set(table.names or ()):
                columns = self.targets
            elif table.names is None and not table.labels:
                columns = range(-m, 0)
        source = FileSource(data, as_target(columns), **how)
        if m > 1 and source.target is not None and set(source.target) == set(self.targets):
            # Labels and outputs go together by name, whatever the order in which they were given.
            source = FileSource(data, as_target(self.targets), **how)
        if source.n_outputs != m:
            raise InputError(
                f"--target must name {m} column{'s' * (m > 1)} of {data}, one for each output of {self.path}; got "
                f"{source.n_outputs}."
            )
        return source


def as_target(columns: Sequence[str | int] | None) -> str | int | list[str | int] | None:
    """Return what `FileSource` takes as its target: one column alone, several as a list, None where none is given."""
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else list(columns)
