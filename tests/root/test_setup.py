"""tools/setup.sh: what ./demo and ./check do about things that are missing, with made-up machines."""
import os
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

# What the scripts take for granted on any machine.
BASICS = ("cat", "chmod", "dirname", "env", "find", "id", "ls", "mkdir", "readlink", "rm", "sed",
          "tail")

NEEDS = """
here|has_command here|it is there
gone|has_command gone|it is not there
?extra|has_command extra|nice to have
"""


class Machine:
    """A folder that is all of PATH: the basics, and commands made up for one test."""

    def __init__(self, test):
        self.folder = tempfile.mkdtemp()
        test.addCleanup(shutil.rmtree, self.folder)
        self.calls = os.path.join(self.folder, "calls")
        for name in BASICS:
            os.symlink(shutil.which(name), os.path.join(self.folder, name))
        self.add("here", "")
        self.add("id", "echo 0")

    def add(self, name, body):
        path = os.path.join(self.folder, name)
        if os.path.islink(path):
            os.unlink(path)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\necho "{name} $*" >>"{self.calls}"\n{body}\n')
        os.chmod(path, 0o755)

    def add_apt(self, install='for p; do last=$p; done; : >"${0%/*}/$last"; chmod +x "${0%/*}/$last"',
                update="", candidate="1.0"):
        self.add("dpkg-query", "")
        self.add("apt-cache", f'echo "  Candidate: {candidate}"')
        self.add("apt-get", f'case " $* " in *" update "*) {update or ":"} ;; *) {install} ;; esac')

    def install(self, shell):
        script = f'set -u; top=/nowhere; . "{TOP}/tools/setup.sh"; install_missing "$1"; echo done'
        return subprocess.run(
            [shutil.which(shell[0]), *shell[1:], "-c", script, "./demo", NEEDS],
            env={"PATH": self.folder}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60)

    def called(self, what):
        if not os.path.exists(self.calls):
            return 0
        with open(self.calls, encoding="utf-8") as f:
            return sum(what in line for line in f)


class Installing:
    """Once for each shell that /bin/sh may be."""

    shell = ()

    @classmethod
    def setUpClass(cls):
        if not shutil.which(cls.shell[0]):
            raise unittest.SkipTest(f"{cls.shell[0]} is not installed")

    def setUp(self):
        self.machine = Machine(self)

    def install(self):
        return self.machine.install(self.shell)

    def test_nothing_missing_asks_nobody(self):
        self.machine.add_apt()
        self.machine.add("gone", "")
        self.machine.add("extra", "")
        done = self.install()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
        self.assertEqual(self.machine.called("apt"), 0)

    def test_what_is_missing_is_told_with_its_reason_and_installed(self):
        self.machine.add_apt()
        done = self.install()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gone - it is not there", done.stderr)
        self.assertEqual(self.machine.called("install --no-install-recommends gone"), 1)
        self.assertEqual(self.machine.called("update"), 0)
        self.assertEqual(self.machine.called("here"), 0)

    def test_the_second_run_asks_nobody(self):
        self.machine.add_apt()
        self.install()
        calls = self.machine.called("apt")
        self.assertEqual(self.install().stderr, "")
        self.assertEqual(self.machine.called("apt"), calls)

    def test_package_lists_are_fetched_where_there_are_none(self):
        self.machine.add_apt(candidate="(none)")
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(self.machine.called("update"), 1)

    def test_package_lists_are_fetched_once_where_they_are_stale(self):
        stale = ('if [ -e "${0%/*}/fresh" ]; then : >"${0%/*}/gone"; chmod +x "${0%/*}/gone"; '
                 'else exit 100; fi')
        self.machine.add_apt(install=stale, update=': >"${0%/*}/fresh"')
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(self.machine.called("update"), 1)

    def test_without_a_network_it_says_so(self):
        self.machine.add_apt(install="echo no route; exit 100", update="exit 100")
        done = self.install()
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no route", done.stderr)
        self.assertIn("Is the network there?", done.stderr)

    def test_a_package_that_brings_too_little_is_told(self):
        self.machine.add_apt(install=":")
        done = self.install()
        self.assertEqual(done.returncode, 3)
        self.assertIn("still not found or too old: gone", done.stderr)

    def test_another_distribution_gets_the_names(self):
        done = self.install()
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("gone - it is not there", done.stderr)
        self.assertIn("your own package manager", done.stderr)

    def test_another_distribution_with_everything_there_goes_on(self):
        self.machine.add("gone", "")
        self.assertEqual(self.install().returncode, 0)

    def test_without_sudo_it_tells_the_command(self):
        self.machine.add_apt()
        self.machine.add("id", "echo 1000")
        done = self.install()
        self.assertEqual(done.returncode, 3)
        self.assertIn("apt-get install --no-install-recommends gone", done.stderr)
        self.assertEqual(self.machine.called("apt-get"), 0)

    def test_sudo_that_wants_a_password_of_nobody_is_not_asked(self):
        self.machine.add_apt()
        self.machine.add("id", "echo 1000")
        self.machine.add("sudo", "exit 1")
        self.assertEqual(self.install().returncode, 3)
        self.assertEqual(self.machine.called("apt-get"), 0)

    def test_sudo_is_used_where_it_works(self):
        self.machine.add_apt()
        self.machine.add("id", "echo 1000")
        self.machine.add("sudo", '[ "$1" = -n ] && shift; case $1 in true) exit 0 ;; esac; exec "$@"')
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(self.machine.called("sudo env DEBIAN_FRONTEND=noninteractive"), 2)

    def test_what_can_be_done_without_stops_nothing(self):
        self.machine.add("gone", "")
        self.machine.add_apt(install="exit 100")
        done = self.install()
        self.assertEqual(done.returncode, 0)
        self.assertIn("going on without", done.stderr)


class UnderDash(Installing, unittest.TestCase):
    shell = ("dash",)


class UnderBusybox(Installing, unittest.TestCase):
    shell = ("busybox", "sh")


class UnderBash(Installing, unittest.TestCase):
    shell = ("bash", "--posix")


if __name__ == "__main__":
    unittest.main()
