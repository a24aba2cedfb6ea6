"""What people and programs read of a grading: values, counterexamples, the report as JSON."""
