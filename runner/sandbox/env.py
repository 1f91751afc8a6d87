"""Environment variables for the programs that the runner starts."""

import os
from collections.abc import Mapping, Sequence

# CPU threads of a run: not the machine's number of cores, since sums over another number of threads
# round differently.
THREADS = 2

# What a bug's script sees of the user's environment; all else could change a result or be a secret.
# LD_LIBRARY_PATH can change a result too, but interpreters on clusters do not start without it. A
# run gets its own HOME and TMPDIR.
INHERITED = ("PATH", "HOME", "TMPDIR", "PYTHONUSERBASE", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
# What a download needs in addition. These may contain passwords.
FOR_DOWNLOADS = (
    "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
)  # fmt: skip
FIXED = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    # How long an idle thread of libgomp spins. The default is thirty times as long: runs would take
    # shared cores from each other.
    "GOMP_SPINCOUNT": "10000",
    # The builds of environments have their bytecode; what a program added would count as a change
    # of the environment.
    "PYTHONDONTWRITEBYTECODE": "1",
}
# Settings of uv and Python with which an environment would differ from its lock.
NOT_FOR_BUILDS = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "PYTHONHOME",
    "UV_TORCH_BACKEND",
    "UV_PYTHON",
)


def clean_environment(threads: int, extra: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for a bug's script: an allow-list, fixed settings, and `threads` CPU
    threads.
    """
    pinned = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads)
    )
    return inherited(INHERITED) | FIXED | pinned | dict(extra)


def inherited(names: Sequence[str]) -> dict[str, str]:
    """The user's environment variables of these names, as far as they are set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def build_environment() -> dict[str, str]:
    """Environment variables for a build: the user's own (proxies, certificates, package index) but
    NOT_FOR_BUILDS.
    """
    return {name: value for name, value in os.environ.items() if name not in NOT_FOR_BUILDS}
