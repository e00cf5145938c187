"""A small disk of its own: a tmpfs in a mount namespace that ends with the suite."""
import os
import pathlib
import subprocess
import sys

MARK = "COMPANION_FAULTS_NAMESPACE"


def enter_namespace():
    """Runs the suite again where it may mount, seen by nobody else; without leave to, the suite goes on without."""
    if MARK in os.environ:
        return
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    may = subprocess.run([*unshare, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0
    os.environ[MARK] = "yes" if may else ""
    if may:
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])


def may_mount():
    return os.environ.get(MARK) == "yes"


class SmallDisk:
    def __init__(self, folder, megabytes):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.ballast = self.folder / "ballast"
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(self.folder)], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Files that a process which is being killed still holds keep the mount until then.
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)

    def fill(self):
        """To the last byte."""
        descriptor = os.open(self.ballast, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            for size in (1 << 20, 1 << 12, 1):
                while True:
                    try:
                        if os.write(descriptor, bytes(size)) < size:
                            break
                    except OSError:
                        break
        finally:
            os.close(descriptor)

    def free(self):
        self.ballast.unlink()

    def read_only(self):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(self.folder)], check=True)
