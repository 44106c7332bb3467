"""The command `imprint`.

Only the command loads it, not `import imprint`.
"""

from imprint._src.cli.command import main as main
