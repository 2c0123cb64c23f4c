"""A test feed for feed readers: it plays a scripted week, and a judge says what a reader did.

The week (`script`), what is served at one of its moments (`answering`), and the verdicts
(`behaviours`, `scorecard`) are pure functions, so that a trace of requests can be judged anywhere
and at any later time. The rest gives each tester an address and keeps its trace.
"""
