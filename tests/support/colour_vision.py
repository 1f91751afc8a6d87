"""How far apart two colours look to people with each kind of colour vision, and on grey paper.

The matrices are those of severity 1.0 by G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A
Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE Transactions on
Visualization and Computer Graphics 15 (6), 2009. They act on linear RGB. Distances are CIE76: the
Euclidean distance in CIELAB with the white D65.
"""

import numpy as np
from matplotlib.colors import to_rgb

# Rows give red, green and blue.
VISION = {
    "full": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# Linear sRGB to XYZ, by IEC 61966-2-1.
XYZ = np.array(
    [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ]
)


def distance(first, second, vision):
    """The distance of two colours, as somebody with this `vision` sees them."""
    seen = [_lab(np.clip(VISION[vision] @ _linear(colour), 0, 1)) for colour in (first, second)]
    return float(np.linalg.norm(seen[0] - seen[1]))


def grey_distance(first, second):
    """The distance of two colours on grey paper: that of their lightness, from 0 to 100."""
    return abs(lightness(first) - lightness(second))


def lightness(colour):
    """The lightness of a colour: 0 is black, and 100 white."""
    return float(_lab(_linear(colour))[0])


def _linear(colour):
    """Red, green and blue without the gamma of a screen."""
    values = np.array(to_rgb(colour))
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    shares = XYZ @ linear / (XYZ @ np.ones(3))
    bent = np.where(shares > (6 / 29) ** 3, np.cbrt(shares), shares * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = bent
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])
