import pytest

from imprint.cli import main
from tests.units.cli.programs import python


def test_without_words_it_prints_its_help(capsys):
    assert main([]) == 0
    bare = capsys.readouterr().out
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == bare
    for command in ("run", "cache"):
        assert f"\n    {command} " in bare


def test_an_unknown_command_exits_with_2(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["nothing"])
    assert caught.value.code == 2
    assert "invalid choice: 'nothing'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_package_is_the_command(tmp_path):
    done = python("-m", "imprint", cwd=tmp_path)
    assert done.stdout.startswith("usage: imprint [-h] [--version] command ...\n")
    assert (done.returncode, done.stderr) == (0, "")
    failed = python("-m", "imprint", "cache", "nothing", cwd=tmp_path)
    assert failed.returncode == 2
