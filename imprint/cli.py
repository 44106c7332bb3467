"""The command `imprint`, and the programs of its tour.

It is loaded by the command only: `import imprint` does not read it.
"""

from imprint._src.cli.command import main as main
