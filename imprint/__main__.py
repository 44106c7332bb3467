"""The command `imprint`, as `python -m imprint`."""

import sys

from imprint._src.cli.command import main

if __name__ == "__main__":
    sys.exit(main())
