"""The command `imprint`, and the programs of its tour.

Only the command loads it, not `import imprint`.
"""

from imprint._src.cli.command import main as main
