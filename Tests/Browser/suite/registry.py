"""Test modules list their tests with this, in the order in which they are written."""


def registry(area, time=""):
    """An empty list of tests and the decorator that adds to it. A test's name is `area: sentence`; the sentence says what must hold.
    It runs alone but for the earlier tests that it needs. With `needs="time"` it is left out of the run that decides: it measures time or
    pixels, waits for seconds to pass, or takes long for what it shows. `time` says what that is in this module, and what decides there."""
    tests = []

    def test(sentence, *earlier, needs=None):
        def add(function):
            function.sentence, function.needs = f"{area}: {sentence}", earlier
            function.needs_time = needs == "time"
            assert time or not function.needs_time, f"{area} does not say why its tests are marked"
            assert function.sentence not in [each.sentence for each in tests], f"two tests have the name {function.sentence!r}"
            tests.append(function)
            return function
        return add

    return tests, test
