"""The report: a result as one HTML file, as a notebook card, and as figures for papers.

It stands below `netlearn.result`, whose `report` and notebook display call it, and shows what a result holds:
`measures` has every number that is not a field of the result itself.
"""

from netlearn.report.card import card_html
from netlearn.report.page import write_report

__all__ = ["card_html", "write_report"]
