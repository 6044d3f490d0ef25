"""Result lines, measured figures and waits with deadlines: the output of every program in this folder."""

from processes import looks


class Failed(Exception):
    """A check did not hold or a deadline passed. The message says what was expected and what was found."""


class Report:
    """Prints one TAP-like line for each check and a summary at the end. Not thread-safe."""

    def __init__(self):
        self.passed = 0
        self.failures = []  # "scenario: what: details"
        self.figures = []  # (name, value with unit)
        self.scenario = ""

    def begin(self, scenario):
        self.scenario = scenario
        print(f"# {scenario}", flush=True)

    def ok(self, what, figure=""):
        """Records a check that held. `figure` is the measured value with its unit, if there is one."""
        self.passed += 1
        print(f"ok {self._count()} - {what}" + (f" ({figure})" if figure else ""), flush=True)
        if figure:
            self.figures.append((f"{self.scenario}: {what}", figure))

    def fail(self, what, details):
        """Records a check that did not hold; the scenario continues."""
        self.failures.append(f"{self.scenario}: {what}: {details}")
        print(f"not ok {self._count()} - {what}", flush=True)
        for line in str(details).splitlines():
            print(f"#   {line}", flush=True)

    def check(self, what, holds, details="", figure=""):
        """Records a check. `details` says what was expected and what was found."""
        if holds:
            self.ok(what, figure)
        else:
            self.fail(what, details)

    def equal(self, what, expected, found):
        self.check(what, expected == found, f"expected: {expected}\nfound:    {found}")

    def until(self, what, seconds, ask, every=0.1, fatal=True):
        """Calls ask() every `every` seconds until it holds, and records the seconds that took.

        ask() returns (holds, found); an exception counts as not holding. After `seconds` the check fails with the
        last `found`; with `fatal` it also raises Failed, which ends the scenario. Returns the seconds, or None after
        a failure.
        """
        found = None
        for took in looks(seconds, every):
            try:
                holds, found = ask()
            except Exception as error:  # a starting server refuses or closes connections, or answers 503
                holds, found = False, f"{type(error).__name__}: {error}"
            if holds:
                self.ok(what, f"{took:.1f} s")
                return took
        self.fail(what, f"expected within {seconds} s\nfound: {str(found)[:2000]}")
        if fatal:
            raise Failed(what)
        return None

    def throughout(self, what, seconds, ask):
        """Checks that ask(), which returns (holds, found), holds all the time for `seconds`."""
        for _ in looks(seconds):
            holds, found = ask()
            if not holds:
                self.fail(what, f"expected for {seconds} s\nfound: {str(found)[:2000]}")
                return
        self.ok(what, f"for {seconds} s")

    def summary(self):
        """Prints all failures again and the totals. Returns the exit code."""
        for failure in self.failures:
            print(f"# failed: {failure.splitlines()[0]}")
        total = self._count()
        print(f"1..{total}\n{self.passed} of {total} checks passed, {len(self.failures)} failed", flush=True)
        return 1 if self.failures else 0

    def _count(self):
        return self.passed + len(self.failures)

