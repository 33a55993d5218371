"""windrow beside its peers on one machine: answers, times, memory, exactness.

``python -m benches.compare --help`` (or ``make bench-compare``). A file has one purpose: ``cases`` and ``h2o`` ask the
questions, ``data`` makes the tables, ``engines`` runs a question on an engine, ``agree`` holds the answers against each
other, ``measure`` and ``memory`` take times and peaks, ``exactness`` takes the errors of float sums, ``report`` writes.
"""
