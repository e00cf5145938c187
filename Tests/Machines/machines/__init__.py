"""The parts of Tests/Machines/run, which others use too."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
