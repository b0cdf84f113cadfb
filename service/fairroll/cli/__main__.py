"""`python -m fairroll.cli` is the command `fairroll`."""

import sys

from fairroll.cli import main

if __name__ == "__main__":
    sys.exit(main())
