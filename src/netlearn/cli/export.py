"""`netlearn export`: a network in the formats of others. No pickle is written."""

from rich.text import Text

from netlearn.cli.describe import shape
from netlearn.cli.models import Model
from netlearn.cli.output import Answer, card
from netlearn.cli.outputs import check_output
from netlearn.network import ShallowNetwork
from netlearn.network.files import write_whole

SUFFIXES = (".onnx", ".npz", ".safetensors")


def answer(model: str, out: str, dtype: str) -> Answer:
    """Write the format that the suffix of `out` says."""
    check_output(out, "--out", SUFFIXES, (model,))
    network = Model.load(model).network
    suffix = out.lower().rpartition(".")[2]
    if suffix == "onnx":
        network.to_onnx(out, dtype=dtype)
        how = f"ONNX model in {dtype}"
    elif suffix == "npz":
        network.to_npz(out)
        how = "arrays of the ReLU form, for numpy.load"
    else:
        _write_state_dict(network, out)
        how = "state_dict of torch, for load_state_dict(safetensors.torch.load_file(...))"
    lines = card()
    lines.add_row("written", Text(out))
    lines.add_row("format", how)
    lines.add_row("network", shape(network))
    sizes = {"n_features": network.n_features, "n_outputs": network.n_outputs}
    return Answer({"model": model, "files": {"export": out}, "format": suffix, **sizes}, lines)


def _write_state_dict(network: ShallowNetwork, out: str) -> None:
    from safetensors.torch import save

    tensors = {name: tensor.contiguous() for name, tensor in network.to_torch().state_dict().items()}
    write_whole(out, save(tensors))
