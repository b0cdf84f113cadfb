"""An audit of any number of receipts: read, judged on all cores, put in order, counted, reported.

    reading -> pool(judging) -> book -> sessions, evidence -> tally -> statistics -> report -> page

`reading` and `book` keep on disk what grows with the number of receipts, so that memory does not.
"""
