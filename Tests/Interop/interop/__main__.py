"""Runs every test in order and prints one line for each; see ../run."""

import contextlib
import os

from tally import ROOT, Suite

from . import foreign


def modules(is_foreign):
    """Each has tests and an environment for them."""
    # Each environment of Python has what its own modules are made of.
    if is_foreign:
        from . import foreign_clients
        return [*foreign.areas(), foreign_clients]
    from . import credentials, documents, graph_libraries, graph_sdk, mac, msal_python, native, native_auth, native_failures, older, openapi, provider, recipes, truth, validators, web, web_frameworks, xcode
    return [
        truth, validators, provider, *foreign.areas(foreign.USUAL), native, native_auth, native_failures, xcode, mac, documents, msal_python, older, graph_sdk, graph_libraries, web, web_frameworks, credentials, recipes, openapi,
    ]


def main():
    suite = Suite("Tests/Interop/run", {"--foreign": {"action": "store_true", "help": "instead of the usual tests: all providers that are not ours"}})
    for module in modules(suite.options.foreign):
        @contextlib.contextmanager
        def environment(folder):
            # Chromium leaves folders of its own among the temporary files.
            os.environ["TMPDIR"] = str(folder)
            with module.environment(suite.binary, ROOT, folder) as context:
                yield context
        suite.run(module.tests, environment)
    suite.end()


main()
