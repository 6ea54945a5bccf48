"""The kinds of arrays that numbers, choices and hashes are kept in."""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
#: Words of 64 bits: hashes, and keys of draws.
Words = npt.NDArray[np.uint64]
