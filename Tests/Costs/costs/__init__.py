"""The costs that somebody without an account can cause: instructions and memory."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
