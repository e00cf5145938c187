"""Test modules list their tests with this, in the order in which they are written."""


def registry(area):
    """An empty list of tests and the decorator that adds to it. A test's name is `area: sentence`; the sentence says what must hold.
    It runs alone but for the earlier tests that it needs. With `needs="time"` it is left out of the run that decides: it measures time or
    pixels, waits for seconds to pass, or takes long for what it shows."""
    tests = []

    def test(sentence, *earlier, needs=None):
        def add(function):
            function.sentence, function.needs = f"{area}: {sentence}", earlier
            function.needs_time = needs == "time"
            assert function.sentence not in [each.sentence for each in tests], f"two tests have the name {function.sentence!r}"
            tests.append(function)
            return function
        return add

    return tests, test
