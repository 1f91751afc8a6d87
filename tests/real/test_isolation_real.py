"""What programs of PyTorch do beside computing: compilers, workers, process groups,
caches and downloads, all isolated.

Each works in torch-2.2.2 under each kind of isolation.
"""

import shutil
import sys
import textwrap
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.paths import ROOT
from support.toy import of_any_length

pytestmark = pytest.mark.real

COMPILED = """
    import os
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    x = torch.randn(32, 8)
    compiled = torch.compile(model)(x)
    compiled.sum().backward()
    libraries = list(Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]).rglob("*.so"))
    record(close=torch.allclose(compiled, model(x), atol=1e-5), libraries=len(libraries) > 0)
"""
LOADED = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    data = TensorDataset(torch.arange(1000.0))
    if __name__ == "__main__":
        for context in ("fork", "spawn"):
            loader = DataLoader(data, batch_size=10, num_workers=2, multiprocessing_context=context)
            record(context=context, sum=sum(batch.sum().item() for batch, in loader))
"""
DISTRIBUTED = """
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp

    def work(rank, port, shared):
        dist.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=rank, world_size=2)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
        (model(torch.full((1, 1), float(rank))).sum()).backward()
        shared[rank] = model.module.weight.grad.item()

    if __name__ == "__main__":
        import socket
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        shared = torch.zeros(2).share_memory_()
        mp.spawn(work, (port, shared), nprocs=2)
        record(gradients=shared.tolist())
"""
DOWNLOADED = """
    import torch
    from sklearn.datasets import get_data_home
    weights = torch.hub.load_state_dict_from_url("http://127.0.0.1:PORT/weights.pt", progress=False)
    files = [path.name for path in Path.home().rglob("*.pt")]
    record(sum=weights["w"].sum().item(), files=files, data=Path(get_data_home()).is_relative_to(Path.home()))
"""
WEIGHTS = """
    import torch
    torch.save({"w": torch.ones(3)}, "weights.pt")
    record(bytes=list(Path("weights.pt").read_bytes()))
"""
DRAWN = """
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot
    pyplot.plot([1, 2])
    pyplot.savefig("figure.png")
    caches = list(Path.home().rglob("fontlist*.json"))
    record(drawn=Path("figure.png").stat().st_size > 0, caches=len(caches))
"""
RECORD = """
import json
from pathlib import Path

def record(**values):
    done.append(values)
    Path("metrics.json").write_text(json.dumps(done))

done = []
"""


def records(toy, program, **options):
    """What a program of torch-2.2.2 records."""
    shutil.copytree(
        ROOT / "environments" / "torch-2.2.2",
        toy.root / "environments" / "torch-2.2.2",
        dirs_exist_ok=True,
    )
    of_any_length(toy)
    config = toy.directory / "config.json"
    text = config.read_text()
    config.write_text(text.replace('"environment": "toy"', '"environment": "torch-2.2.2"'))
    toy.write("buggy.py", RECORD + textwrap.dedent(program))
    options = {"python": None} | options
    outcome = toy.run("Toy-1/only/buggy", seeds=(0,), timeout_s=300, **options)
    record = outcome.records[0]
    assert record.ok, record.reason
    assert record.runtime.isolated is True
    return [dict(row) for row in record.metrics]


def test_inductor_compiles_and_loads_what_it_has_compiled(toy, kept_by):
    assert records(toy, COMPILED) == [{"close": True, "libraries": True}]


def test_workers_of_a_loader_share_memory(toy, kept_by):
    contexts = ("fork", "spawn")
    expected = [{"context": context, "sum": 499500.0} for context in contexts]
    assert records(toy, LOADED) == expected


def test_processes_train_together(toy, kept_by):
    assert records(toy, DISTRIBUTED) == [{"gradients": [0.5, 0.5]}]


def test_download_goes_to_a_home_of_its_own(toy, tmp_path, kept_by):
    served = tmp_path / "served"
    served.mkdir()
    (served / "weights.pt").write_bytes(bytes(records(toy, WEIGHTS)[0]["bytes"]))
    handler = partial(SimpleHTTPRequestHandler, directory=served)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        rows = records(toy, DOWNLOADED.replace("PORT", str(server.server_port)))
        server.shutdown()
    assert rows == [{"sum": 3.0, "files": ["weights.pt"], "data": True}]
    assert not list(Path.home().glob(".cache/torch/hub/checkpoints/weights.pt"))


def test_matplotlib_writes_its_cache_of_fonts(toy, kept_by):
    assert records(toy, DRAWN, python=Path(sys.executable)) == [{"drawn": True, "caches": 1}]
