"""Model files as commands take them: a result that `learn` left, or a network alone."""

from dataclasses import dataclass

from safetensors import safe_open

from netlearn.certify import Certificate
from netlearn.errors import InputError
from netlearn.network import ShallowNetwork
from netlearn.result import LearnResult
from netlearn.source import FileSource
from netlearn.source.tables import open_table

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
    target : str
        Name of the labels; empty where it is not known.
    certificate : Certificate or None
    """

    path: str
    network: ShallowNetwork
    names: tuple[str, ...] = ()
    target: str = ""
    certificate: Certificate | None = None

    @classmethod
    def load(cls, path: str) -> "Model":
        """Read either kind of file."""
        network = ShallowNetwork.load(path)
        with safe_open(path, framework="numpy") as opened:
            if opened.metadata()["format"] == "netlearn.ShallowNetwork":
                return cls(path, network)
        result = LearnResult.load(path)
        return cls(path, network, result.names, result.target, result.certificate)

    def rows(self, data: str, target: str | None, *, labels: bool) -> FileSource:
        """Open a table for this network: by names where both have them, else by the order of columns.

        With `labels`, a target that was not given is the column that is called as the model's own; without,
        that column is no feature.
        """
        if self.network.n_outputs > 1:
            raise InputError(
                f"{self.path} has {self.network.n_outputs} outputs, but commands take networks with one."
            )
        columns = open_table(data).names or ()
        own = self.target if self.target in columns else None
        features = self.names if self.names and columns else None
        if labels:
            target = own if target is None else target
        elif features is None and own is not None:
            features = [name for name in columns if name != own]
        source = FileSource(data, target if labels else [], features)
        if source.n_features != self.network.n_features:
            raise InputError(
                f"{data} must have {self.network.n_features} columns beside the target, one for each feature of "
                f"{self.path}; got {source.n_features}."
            )
        return source
