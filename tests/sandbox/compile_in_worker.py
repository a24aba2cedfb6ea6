"""Compile kernels for an absent H100 and print how it went as JSON: `compile_in_worker.py ROOT FOLDER...`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from attncli.sandbox.policy import REHEARSED_KERNELS
from attncli.sandbox.zygote_client import Reply, ZygoteClient

SUBMISSION = """
import linecache, os, subprocess, sys, sysconfig, tempfile, types

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

SOURCES = {sources!r}


class NoDevice:
    get_current_target = lambda self: GPUTarget("cuda", 90, 32)
    get_current_device = lambda self: 90
    get_current_stream = lambda self, device: 0


compiled = []
launch = JITFunction.run


def compile_only(function, *args, grid, warmup, **kwargs):
    compiled.append(launch(function, *args, grid=grid, warmup=True, **kwargs))
    return compiled[-1]


def module_of(name):
    module = types.ModuleType(name)
    module.__file__ = name + ".py"
    sys.modules[name] = module
    text = SOURCES[name]
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(keepends=True), module.__file__)
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module


def outcome(action):
    try:
        return action()
    except BaseException as error:
        return f"{{type(error).__name__}}: {{error}}"[:300]


def compile_kernel(name, entry):
    compiled.clear()
    like = {{"dtype": torch.bfloat16, "device": "cpu"}}
    work = entry.work("odd", like)
    work.call(module_of("kernel:" + entry.folder), *work.args)
    return len(compiled)


def libraries():
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    return "libc.so" in listed.stdout


def launcher():
    with tempfile.TemporaryDirectory() as folder:
        source, target = folder + "/launcher.c", folder + "/launcher.so"
        with open(source, "w") as file:
            file.write("#include <Python.h>\\nint f(void) {{ return 1; }}\\n")
        command = ["gcc", source, "-shared", "-fPIC", "-o", target, "-I", sysconfig.get_path("include")]
        subprocess.run(command, check=True, capture_output=True)
        return os.path.exists(target)


def f():
    driver.set_active(NoDevice())
    JITFunction.run = compile_only
    entries = module_of("gpu_kernels").ENTRIES
    chosen = {{entry.folder: (name, entry) for name, entry in entries.items() if "kernel:" + entry.folder in SOURCES}}
    kernels = {{folder: outcome(lambda: compile_kernel(*found)) for folder, found in chosen.items()}}
    cache = os.environ["TRITON_CACHE_DIR"]
    import json
    print(json.dumps({{
        "kernels": kernels,
        "libraries": outcome(libraries),
        "launcher": outcome(launcher),
        "cached": os.path.isdir(cache) and len(os.listdir(cache)),
    }}))
"""


def main(root: Path, folders: list[str]) -> None:
    sources = {f"kernel:{folder}": (root / "impl" / folder / "kernel.py").read_text("utf-8") for folder in folders}
    sources["gpu_kernels"] = (root / "benchmarks" / "gpu_kernels.py").read_text("utf-8")
    text = SUBMISSION.format(sources=sources)
    with ZygoteClient.start() as zygote, zygote.worker(2048, REHEARSED_KERNELS) as worker:
        loaded = worker.load(text.encode(), "submission.py", ["f"], 60, kernel=True, device="cuda")
        assert isinstance(loaded, Reply) and loaded.header["op"] == "loaded", loaded
        answer = worker.request({"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}, [], 300)
        assert isinstance(answer, Reply), answer
        report = json.loads(worker.printed) if worker.printed.startswith("{") else {"printed": worker.printed[:500]}
        layers = list(zygote.layers_under(REHEARSED_KERNELS))
    print(json.dumps({**report, "layers": layers, "uid": os.geteuid()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
