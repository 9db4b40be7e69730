"""Published cases with reference values: ``fem-mbs validate`` runs them with every time stepper they apply to.

`fem_mbs.cases.case` says what a case is, `fem_mbs.cases.registry` which there are, `fem_mbs.cases.validate` runs them.
A new case is a function that takes a stepper and returns `Checks`, and one entry in the ``CASES`` of its file.
"""
