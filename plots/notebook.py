"""A figure that a notebook shows as the value of a cell."""

from io import BytesIO

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure without pyplot, for which a notebook has no display of its own until somebody
    imports pyplot.
    """

    def _repr_png_(self) -> bytes:
        """The PNG, as the protocol of IPython asks for it."""
        png = BytesIO()
        self.savefig(png, format="png", dpi="figure")
        return png.getvalue()
