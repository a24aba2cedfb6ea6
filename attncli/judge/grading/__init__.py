"""One grading from start to verdict, and the proof of a challenge by gradings of its own files."""
