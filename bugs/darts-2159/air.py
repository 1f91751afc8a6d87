"""The carbon dioxide in the air above Mauna Loa in each month from March 1958 on, in parts per million."""

import numpy as np
from darts import TimeSeries
from statsmodels.datasets import co2


def load():
    """Return three parts of the series: 60 % of its months to train on, 20 % to validate, 20 % to test."""
    weeks = co2.load_pandas().data["co2"]
    months = weeks.resample("MS").mean().interpolate()
    series = TimeSeries.from_series(months).astype(np.float32)
    train, rest = series.split_after(0.6)
    return (train, *rest.split_after(0.5))
