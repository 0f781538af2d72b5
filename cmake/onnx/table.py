"""All entries of the table of operators."""

import attention  # noqa: F401
import einsum  # noqa: F401
import elementwise  # noqa: F401
import images  # noqa: F401
import indexing  # noqa: F401
import losses  # noqa: F401
import networks  # noqa: F401
import quantised  # noqa: F401
import random_numbers  # noqa: F401
import recurrent  # noqa: F401
import recurrent_layers  # noqa: F401
import reductions  # noqa: F401
import shaping  # noqa: F401
from operators import TABLE  # noqa: F401
