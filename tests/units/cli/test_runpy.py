"""A program under `imprint run` behaves as under Python itself."""

import signal
import subprocess
import sys

import pytest

from tests.units.cli.programs import COMMAND, ENVIRONMENT, imprint, python, write

NOTHING = "\nimprint run: no jitted function was compiled.\n"

PROGRAMS = {
    "what it is": """
        import os, sys
        print(sys.argv[1:], os.path.basename(sys.argv[0]), sys.path)
        print(__name__, __file__, __spec__, sys.modules["__main__"].__file__)
        print(type(__loader__), __loader__.name, __builtins__, __annotations__)
    """,
    "an error": """
        def divide(x):
            return x / 0
        try:
            divide(1)
        except ZeroDivisionError as err:
            raise ValueError("no") from err
    """,
    "an error of syntax": "x = = 1",
    "a status": "import sys; sys.exit(7)",
    "a message": "import sys; sys.exit('gone wrong')",
    "no status": "import sys; sys.exit()",
    "a hook": """
        import sys
        sys.excepthook = lambda kind, err, tb: print(kind, err, tb.tb_lineno)
        raise KeyError("x")
    """,
    "a thread after the end": """
        import threading, time
        main = threading.current_thread()
        def late():
            time.sleep(0.01)
            print("late")
        threading.Thread(target=late).start()
        raise SystemExit(3)
    """,
    "a pickle": """
        import pickle
        class A:
            pass
        print(type(pickle.loads(pickle.dumps(A()))) is A)
    """,
    "a parser of its own, and processes": """
        import argparse, multiprocessing, os, sys, warnings
        warnings.simplefilter("ignore")
        def work(x):
            return x + 1, sys.argv, __name__
        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("a")
            parser.add_argument("--json", action="store_true")
            parser.add_argument("-m", action="store_true")
            print(parser.parse_args())
            for method in ("fork", "spawn"):
                context = multiprocessing.get_context(method)
                with context.Pool(1) as pool:
                    print(pool.map(work, [1, 2]))
            failing = context.Process(target=sys.exit, args=(4,))
            failing.start()
            failing.join()
            print(failing.exitcode)
            parser.error("wrong usage")
    """,
    "a fork": """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        child = os.fork()
        if child == 0:
            sys.exit(5)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_under_python(name, tmp_path):
    script = write(tmp_path / "script.py", PROGRAMS[name])
    ours = imprint("run", script.name, "a", "--json", "-m", cwd=tmp_path)
    theirs = python(script.name, "a", "--json", "-m", cwd=tmp_path)
    assert ours.stdout == theirs.stdout
    assert ours.returncode == theirs.returncode
    assert ours.stderr == theirs.stderr + NOTHING


@pytest.mark.slow
def test_a_module_runs_as_under_python(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    write(package / "__init__.py", "")
    write(package / "part.py", "what = 'part'")
    program = """
        import sys
        from package import part
        from . import part as same
        print(sys.argv, sys.path[0], __name__, __file__, __package__, part is same)
        print(__spec__.name, __loader__ is __spec__.loader, __cached__)
        1 / 0
    """
    write(package / "__main__.py", program)
    ours = imprint("run", "-m", "package", "a", "-m", cwd=tmp_path)
    theirs = python("-m", "package", "a", "-m", cwd=tmp_path)
    assert ours.stdout == theirs.stdout
    assert ours.returncode == theirs.returncode == 1
    shown = ours.stderr.removesuffix(NOTHING)
    assert (
        shown.splitlines()[1]
        == f'  File "{package / "__main__.py"}", line 7, in <module>'
    )
    assert theirs.stderr.endswith("\n".join(shown.splitlines()[1:]) + "\n")


@pytest.mark.slow
def test_a_missing_module_is_named(tmp_path):
    done = imprint("run", "-m", "no_such_module", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"ImportError: No module named no_such_module\n{NOTHING}"


@pytest.mark.slow
def test_an_interrupted_program_is_reported(tmp_path):
    write(
        tmp_path / "waits.py",
        """
        import time
        import imprint
        imprint.jit(lambda x: x + 1)(1.0)
        print("ready", flush=True)
        time.sleep(600)
        """,
    )
    # Tests that run in the background ignore the signal, and so would their child.
    program = f"import signal; signal.signal(2, signal.default_int_handler)\n{COMMAND}"
    command = [sys.executable, "-c", program, "run", "waits.py"]
    settings = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(
        command, cwd=tmp_path, text=True, env=ENVIRONMENT, **settings
    ) as child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
    assert child.returncode == 130
    assert err.startswith("Traceback (most recent call last):\n  File ")
    assert err.count("File ") == 1
    assert "\nKeyboardInterrupt\n\nimprint run: 1 function, 1 version" in err
    assert "first call, at waits.py:4\n" in err


@pytest.mark.slow
def test_code_that_runs_after_the_end_finds_the_program(tmp_path):
    write(
        tmp_path / "script.py",
        """
        import atexit, sys
        what = "the program"
        atexit.register(lambda: print(sys.modules["__main__"].what, what, sys.argv))
        """,
    )
    ours = imprint("run", "script.py", cwd=tmp_path)
    assert ours.stdout == "the program the program ['script.py']\n"
