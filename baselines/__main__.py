"""``python -m nlihub.baselines``: the commands of ``nlihub baseline``."""

import sys

from ..cli import main  # the one import upwards: this is the program, not a room of the house

sys.argv.insert(1, "baseline")
main()
