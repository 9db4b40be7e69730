"""``python -m fem_mbs`` is the command ``fem-mbs``, also where no scripts are installed."""

import sys

from fem_mbs.cli import main

if __name__ == "__main__":
    sys.exit(main())
