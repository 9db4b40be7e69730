"""Calls of sensors, controllers, events and states; `public_calls` says what a call is."""

import numpy as np
from call_models import A, B, body, hinge

import fem_mbs as fem


def angle():
    return fem.Sensor(A(), "angle", axis=[0, 0, 1])


CONTROL = {
    "Held": lambda: (fem.Held, dict(initial=1.0, name="h")),
    "Sensor": lambda: (
        fem.Sensor,
        dict(source=body(), quantity="velocity", component="x", axis=None, relative_to=B(), inputs=(), name="s"),
    ),
    "Sensor, angle": lambda: (
        fem.Sensor,
        dict(source=A(), quantity="angle", component=None, axis=[0, 0, 1], relative_to=B(), inputs=(), name="s"),
    ),
    "Sensor, output": lambda: (fem.Sensor, dict(source=hinge(), quantity="force", component=1)),
    "Sensor, function": lambda: (fem.Sensor, dict(source=lambda y: 2 * y, inputs=[angle()])),
    "FrameMotion": lambda: (fem.FrameMotion, dict(frame=A(), quantity="position", relative_to=B(), name="m")),
    "FrameAngle": lambda: (fem.FrameAngle, dict(frame=A(), axis=[0, 0, 1], relative_to=B(), name="m")),
    "Controller": lambda: (
        fem.Controller,
        dict(
            function=lambda t, y, z: (0.0, z),
            period=0.1,
            inputs=[angle()],
            outputs=["u"],
            delay=0.01,
            switches=None,
            state=0.0,
            initial=1.0,
            name="c",
        ),
    ),
    "Controller.output": lambda: (fem.Controller(lambda t, y: 0.0, 0.1).output, dict(name="u")),
    "PID": lambda: (
        fem.PID,
        dict(
            sensor=angle(),
            kp=1.0,
            ki=1.0,
            kd=1.0,
            period=0.1,
            set_point=lambda t: t,
            limits=(-1, 1),
            anti_windup="back",
            tracking_time=1.0,
            filter_time=0.1,
            delay=0.0,
            name="c",
        ),
    ),
    "Stop": lambda: (fem.Stop, dict(reason="end")),
    "SetTo": lambda: (fem.SetTo, dict(held=fem.Held(0.0), value=1.0)),
    "SwitchOn": lambda: (fem.SwitchOn, dict(element=hinge())),
    "SwitchOff": lambda: (fem.SwitchOff, dict(element=hinge())),
    "Event": lambda: (
        fem.Event,
        dict(
            condition=angle(),
            action=fem.Stop("end"),
            level=0.1,
            direction="up",
            once=False,
            dead_band=0.1,
            name="e",
        ),
    ),
    "Coordinate": lambda: (fem.Coordinate, dict(node=A(), component="x", of="velocity")),
    "StateSpace": lambda: (
        fem.StateSpace,
        dict(
            A=[[-1.0]],
            B=[[1.0, 2.0]],
            C=[[1.0]],
            D=[[0.0, 0.0]],
            inputs=[1.0, fem.Coordinate(A(), "x")],
            acts_on=[fem.Coordinate(B(), "rz")],
            start=[0.0],
            scale=1.0,
            name="s",
        ),
    ),
    "UserStates": lambda: (
        fem.UserStates,
        dict(function=lambda t, z, x, R, v: -np.ones(1) * z, start=[1.0], nodes=[A()], name="s"),
    ),
}
