"""``pythnn report``: one page of HTML about a model in a .t7 file.

==================  ==========================================================
``_write.py``       the command: reads, runs, writes
``_running.py``     the input, guessed where it must be, and the forward calls
``_costs.py``       multiply-adds of a layer
``_statistics.py``  mean, spread and histogram of an array
``_pictures.py``    arrays as PNG
``_html.py``        HTML in which all text is escaped
``_page.py``        what the page shows, from top to bottom
``_charts.py``      histograms and bars as SVG
==================  ==========================================================
"""

from ._write import Task, write_report

__all__ = ["Task", "write_report"]
