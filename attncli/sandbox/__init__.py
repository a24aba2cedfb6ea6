"""The untrusted side of grading, in three groups. Of attncli only the errors are imported.

What confines a worker: namespaces, landlock and grants, seccomp and syscall_numbers, limits, as worker_policy says;
layer_probes proves them, layers_report tells of them, cuda_start begins CUDA behind them. Who starts and watches it:
start_process, launch, split, zygote, zygote_client, process, supervisor, usage, worker, endings. What runs in it and
crosses over: wire, values, tensor_table, program_interpreter with object_steps, expression_function, placement,
emulated_device, compiler. What is seen of a run: tracing, program_watch, kernel_watch with kernel_memory and
kernel_reach, touched, captured_output, exceptions.
"""
