"""How a test module lists its tests, in the order in which they are written."""


def registry():
    """An empty list of tests and the decorator that adds to it; the test's sentence says what must hold."""
    tests = []

    def test(sentence):
        def add(function):
            function.sentence = sentence
            tests.append(function)
            return function
        return add

    return tests, test
