"""Forces recovered from a run, with the law and the stiffness that most tests take."""

import force_recovery as bouncing

import fem_mbs as fem


def recover(result, model="flores", contact="ground contact", stiffness=bouncing.stiffness, **options):
    return fem.recover_forces(result, contact, stiffness=stiffness, model=model, **options)
