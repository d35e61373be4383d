"""``pythnn report``: one page of HTML about a model in a .t7 file.

==================  ==========================================================
``_write.py``       the command: reads, runs, writes
``_running.py``     forward calls, and what is kept of them
``_report.py``      what a page is made of
``_statistics.py``  mean, spread and histogram of an array
``_pictures.py``    arrays as PNG
``_html.py``        HTML in which all text is escaped
``_page.py``        what the page shows, from top to bottom
``_layers.py``      the tree of layers, and what is inside them
``_filters.py``     the filters of the first layer
``_charts.py``      histograms and bars as SVG
``_graph.py``       what takes the output of what
``_layout.py``      where the boxes and lines of a graph go
``_shapes.py``      the shapes of tables in few words
``_drawing.py``     the graph as SVG
``page.html``       the frame of the page, for ``string.Template``
``style.css``       how it looks, light and dark, wide and narrow
==================  ==========================================================
"""

from ._write import Task, write_report

__all__ = ["Task", "write_report"]
