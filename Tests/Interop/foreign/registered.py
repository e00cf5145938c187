"""The registration that each provider of this folder is given, in the file that its first argument names."""

import json
import pathlib
import sys
from types import SimpleNamespace

# base: the address that the world knows; port: where the provider listens; folder: its own; client_id, client_secret, redirect_uri,
# signed_out_uri: the registration; username, password, name, email: the one person.
given = json.loads(pathlib.Path(sys.argv[1]).read_text(), object_hook=lambda values: SimpleNamespace(**values))
