"""The parts of Tests/Machines/run."""
