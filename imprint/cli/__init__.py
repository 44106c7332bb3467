"""The command `imprint`.

`main` is its entry point; each subcommand is a file of this package. It is loaded by the
command only: `import imprint` does not read it.
"""

from imprint.cli.command import main as main
