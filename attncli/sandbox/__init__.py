"""The untrusted side: zygote, worker, limits and what crosses the boundary. Of attncli only the errors are imported."""
