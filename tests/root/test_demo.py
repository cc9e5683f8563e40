"""./demo, run for real on a tree that holds our scripts and a tiny program instead of rwsem."""
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

MESON = """project('tiny', 'c', version: '1')
subdir('cmd')
"""

# Writes the record named by its last argument, and ends as its environment says. Says "ready" and
# waits for a signal if so told.
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int got = 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, 0);
    puts("table");
    fflush(stdout);
    if (getenv("TINY_WAITS")) {
        alarm(60); /* should the test die */
        sigwait(&set, &got);
    }
    FILE *record = fopen(argv[argc - 1], "w");
    if (!record || fputs("{}\n", record) < 0 || fclose(record))
        return 1;
    return got ? 128 + got : getenv("TINY_STATUS") ? atoi(getenv("TINY_STATUS")) : 0;
}
"""


def missing_tools():
    return [t for t in ("gcc", "meson", "ninja", "pkg-config") if not shutil.which(t)]


@unittest.skipIf(missing_tools(), f"not installed: {' '.join(missing_tools())}")
class Demo(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.top = self.plant("a tree")

    def plant(self, name):
        top = os.path.join(self.folder, name)
        os.makedirs(os.path.join(top, "cmd"))
        shutil.copy(os.path.join(TOP, "demo"), top)
        shutil.copytree(os.path.join(TOP, "tools"), os.path.join(top, "tools"))
        self.write(top, "meson.build", MESON)
        self.write(top, "cmd/meson.build", "executable('rwsem', 'tiny.c')\n")
        self.write(top, "cmd/tiny.c", PROGRAM)
        return top

    @staticmethod
    def write(top, name, text):
        with open(os.path.join(top, name), "w", encoding="utf-8") as f:
            f.write(text)

    def environment(self, **more):
        return {**os.environ, "HOME": "/nonexistent", "LC_ALL": "C", **more}

    def demo(self, top=None, cwd="/", command=None, **more):
        return subprocess.run(command or [os.path.join(top or self.top, "demo")], cwd=cwd,
                              env=self.environment(**more), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def assert_works(self, done, top=None):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        record = os.path.join(top or self.top, "rwsem-demo.json")
        self.assertTrue(done.stdout.endswith(f"The full record (JSON): {record}\n"), done.stdout)
        self.assertTrue(os.path.exists(record))

    def test_it_builds_and_runs_from_any_folder_and_tells_where_the_record_lies(self):
        self.assert_works(self.demo())

    def test_it_runs_through_a_link(self):
        link = os.path.join(self.folder, "link")
        os.symlink(os.path.join(self.top, "demo"), link)
        self.assert_works(self.demo(command=[link]))

    def test_the_second_run_configures_nothing(self):
        self.demo()
        self.assertNotIn("Configuring", self.demo().stderr)

    def test_the_second_run_needs_no_network(self):
        alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "-r", "--net"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
            self.skipTest("may not make a network namespace")
        self.demo()
        self.assert_works(self.demo(command=[*alone, os.path.join(self.top, "demo")]))

    def test_the_status_is_that_of_the_program(self):
        self.assertEqual(self.demo(TINY_STATUS="3").returncode, 3)

    def test_an_interrupt_reaches_the_program_and_its_record_is_told(self):
        self.demo()
        child = subprocess.Popen([os.path.join(self.top, "demo")], stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL, env=self.environment(TINY_WAITS="1"), start_new_session=True)
        self.assertEqual(child.stdout.readline(), "table\n")
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        rest = child.stdout.read()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=60), 130)
        self.assertIn("The full record (JSON): ", rest)

    def test_an_old_record_is_not_taken_for_a_new_one(self):
        self.demo()
        self.write(self.top, "cmd/tiny.c", "int main(void) { return 1; }\n")
        done = self.demo()
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("full record", done.stdout)

    def test_code_that_does_not_compile_is_told(self):
        self.write(self.top, "cmd/tiny.c", "int main(void) { return nonsense; }\n")
        done = self.demo()
        self.assertEqual(done.returncode, 1)
        self.assertIn("nonsense", done.stderr)

    def test_options_are_refused(self):
        self.assertEqual(self.demo(command=[os.path.join(self.top, "demo"), "--no"]).returncode, 2)

    # What may have become of build/.

    def test_a_setup_that_was_cut_short_is_recovered(self):
        os.makedirs(os.path.join(self.top, "build", "meson-private"))
        self.write(self.top, "build/meson-private/coredata.dat", "half")
        self.assert_works(self.demo())

    def test_an_empty_build_folder_is_used(self):
        os.makedirs(os.path.join(self.top, "build"))
        self.assert_works(self.demo())

    def test_a_tree_that_was_moved_is_recovered(self):
        self.demo()
        moved = os.path.join(self.folder, "moved")
        os.rename(self.top, moved)
        self.assert_works(self.demo(moved), moved)

    def test_a_copied_tree_does_not_run_the_original(self):
        self.demo()
        copy = os.path.join(self.folder, "copy")
        shutil.copytree(self.top, copy)
        os.remove(os.path.join(copy, "rwsem-demo.json"))
        self.write(self.top, "cmd/tiny.c", "int main(void) { return 1; }\n")
        self.assert_works(self.demo(copy), copy)

    def test_a_build_of_another_meson_is_recovered(self):
        self.demo()
        stamp = os.path.join(self.top, "build", ".configured-as")
        with open(stamp, encoding="utf-8") as f:
            lines = f.read().splitlines()
        lines[1] = "0.61.0"
        self.write(self.top, "build/.configured-as", "\n".join(lines) + "\n")
        self.write(self.top, "build/meson-private/coredata.dat", "what another version writes")
        self.assert_works(self.demo())

    def test_a_damaged_build_is_recovered(self):
        self.demo()
        build = os.path.join(self.top, "build")
        self.write(self.top, "build/build.ninja", "rubbish\n")
        os.remove(os.path.join(build, "cmd", "rwsem"))
        self.assert_works(self.demo())

    def test_a_folder_that_is_not_ours_is_left_alone(self):
        os.makedirs(os.path.join(self.top, "build"))
        self.write(self.top, "build/thesis", "dear\n")
        done = self.demo()
        self.assertEqual(done.returncode, 1)
        self.assertIn("move it away", done.stderr)
        self.assertEqual(os.listdir(os.path.join(self.top, "build")), ["thesis"])


if __name__ == "__main__":
    unittest.main()
