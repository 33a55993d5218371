"""``df.wr`` of pandas frames, once this module is imported.

>>> import pandas as pd
>>> import windrow.pandas
>>> frame = pd.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]})
>>> frame.wr.with_columns("sum(x) OVER (PARTITION BY k) AS total")["total"].to_list()
[4, 2, 4]

Type checkers do not know attributes that are registered; they know ``windrow.pandas.Frame(frame)``, which is the same.
"""

from __future__ import annotations

import pandas as pd

from ._accessor import Accessor

__all__ = ["Frame"]


@pd.api.extensions.register_dataframe_accessor("wr")
class Frame(Accessor["pd.DataFrame"]):
    """windrow's functions as methods of a DataFrame."""
