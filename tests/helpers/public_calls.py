"""A valid call of every public constructor and function: name -> function that gives it and its arguments.

A comma in a name distinguishes several calls of one function.
"""

from calls_of_bearings import BEARINGS
from calls_of_bodies import BODIES
from calls_of_contacts import CONTACTS
from calls_of_control import CONTROL
from calls_of_drives import DRIVES
from calls_of_shells import SHELLS
from calls_of_solids import SOLIDS
from calls_of_solvers import SOLVERS

CALLS = {**BODIES, **CONTACTS, **BEARINGS, **CONTROL, **DRIVES, **SHELLS, **SOLIDS, **SOLVERS}
