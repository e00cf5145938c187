"""The parts of Tests/Faults/run, which others use too."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
