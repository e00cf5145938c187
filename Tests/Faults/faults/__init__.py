"""The parts of Tests/Faults/run."""
