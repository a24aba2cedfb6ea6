"""What a worker may do, as data: one policy for the CPU, and weaker ones for a GPU.

A GPU's driver is spoken to by `ioctl` calls that nobody can list, maps more addresses than there is memory, starts
threads and names them. What that costs is told in SECURITY.md. CUDA begins in a worker, behind all layers: threads that
it had started before them would not be held by them. Nothing of it may begin in the zygote: a CUDA context does not
survive a fork, and even asking whether there is a GPU leaves torch unfit for use in the child.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

MIB = 1 << 20
MEMORY_MIB = 1024
"""What a submission may have, where nothing else is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPolicy:
    """The defaults are those of a worker on the CPU.

    `kernel_limits_memory`: written memory and addresses have limits of the kernel's; without, the judge's watch alone
    holds what is resident, with `runtime_mib` more for what the GPU's own libraries take. `written_bytes` is the most
    that a file may grow to, and there is none to write to but memory files, `processes` the most threads and processes.
    `calls` are system calls allowed besides, `any_ioctl` all but those that type into a terminal, `shared_memory` maps
    that are nobody's file. `reads`, `devices` and `programs` are patterns of what may be read, opened as a device, and
    executed; `names_threads` gives the worker a /proc of its own pid namespace, and opens its own task folder in it.
    `folder_mib` is the size of a folder of its own at /dev/shm, in memory and gone with it; `starts_processes` lets it
    run what `programs` names. `cache_folder` is a folder of the judge's that workers share for compiled kernels.
    `start_seconds` bounds how long it may take to be ready, `fcntl` lists commands allowed besides.
    """

    name: str
    device: str = "cpu"
    kernel_limits_memory: bool = True
    runtime_mib: int = 0
    written_bytes: int = 0
    open_files: int = 64
    processes: int = 64
    calls: tuple[str, ...] = ()
    any_ioctl: bool = False
    shared_memory: bool = False
    names_threads: bool = False
    reads: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    folder_mib: int = 0
    starts_processes: bool = False
    cache_folder: str = ""
    start_seconds: float = 20.0
    fcntl: tuple[int, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    kept_variables: tuple[str, ...] = ()

    @property
    def shares_rules(self) -> bool:
        """Whether its Landlock rules are the same for every worker, so that they are made once."""
        return not (self.reads or self.devices or self.programs or self.names_threads or self.folder_mib)


CPU = WorkerPolicy(name="cpu")
CUDA = WorkerPolicy(
    name="cuda",
    device="cuda",
    kernel_limits_memory=False,
    runtime_mib=2048,
    written_bytes=1024 * MIB,
    open_files=1024,
    processes=256,
    calls=tuple(
        "memfd_create ftruncate fallocate sched_setaffinity mlock munlock mlock2 get_mempolicy set_mempolicy mbind"
        " statfs fstatfs".split()
    ),
    any_ioctl=True,
    shared_memory=True,
    names_threads=True,
    start_seconds=120.0,  # libraries of gigabytes, read from a disk for the first time
    fcntl=(1033, 1034),  # ADD_SEALS GET_SEALS, of memory files
    reads=(
        *("/proc/driver/nvidia", "/proc/meminfo", "/proc/cpuinfo", "/proc/devices", "/proc/modules", "/proc/self"),
        *("/sys/bus/pci", "/sys/devices/pci*", "/sys/devices/system/cpu", "/sys/devices/system/node"),
        *("/proc/sys/vm/mmap_min_addr", "/sys/devices/system/memory/block_size_bytes"),
        *("/sys/module/nvidia*", "/usr/local/nvidia*", "/usr/local/cuda*", "/usr/lib/wsl/lib", "/etc/nvidia"),
    ),
    devices=("/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-*", "/dev/nvidia-caps/*", "/dev/dxg"),
    variables=(("CUDA_CACHE_DISABLE", "1"), ("CUDA_MODULE_LOADING", "LAZY")),
    kept_variables=("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"),
)
CUDA_KERNELS = replace(
    CUDA,
    name="cuda-kernels",
    calls=(
        *CUDA.calls,
        *(
            "fork vfork execve wait4 waitid arch_prctl chdir umask mkdir mkdirat rmdir unlink unlinkat rename renameat"
            " renameat2 flock fsync fdatasync fchmod pwrite64 copy_file_range utimensat"
        ).split(),
    ),
    programs=(
        "/bin",
        "/usr/bin",
        "/sbin",
        "/usr/sbin",
        "/lib*",
        "/usr/lib*",
        "/usr/libexec",
        "/usr/local/bin",
        "/usr/local/cuda*",
    ),
    reads=(*CUDA.reads, "/usr/include", "/usr/local/include"),
    folder_mib=256,
    starts_processes=True,
    variables=(
        *CUDA.variables,
        ("PATH", "/usr/bin:/bin"),
    ),
)
# The same layers where there is no GPU to begin: tests hold them to what they are to refuse. No command asks for them.
REHEARSED = replace(CUDA, name="cuda-rehearsed", device="cpu")
REHEARSED_KERNELS = replace(CUDA_KERNELS, name="cuda-kernels-rehearsed", device="cpu")
POLICIES = {policy.name: policy for policy in (CPU, CUDA, CUDA_KERNELS, REHEARSED, REHEARSED_KERNELS)}


def policy_of(device: str, kernel: bool = False, cache_folder: str = "") -> WorkerPolicy:
    """Return the policy for a submission on a device; on a GPU one that holds a `kernel` needs a compiler."""
    if device != CUDA.device:
        return CPU
    return replace(CUDA_KERNELS, cache_folder=cache_folder) if kernel else CUDA
