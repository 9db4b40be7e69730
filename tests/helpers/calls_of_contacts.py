"""Calls of contacts, their groups and materials, contacts of Hertz and shapes; `public_calls` says what a call is."""

import numpy as np
from call_models import DISC, FULL_LAW, LAW, body, ends, ground

import fem_mbs as fem

TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
CONTACTS = {
    # contacts
    "SphereOnPlane": lambda: (
        fem.SphereOnPlane,
        dict(sphere=body(), plane=ground(), radius=0.1, drawn_size=1.0, **FULL_LAW),
    ),
    "SphereOnPlane, disc": lambda: (fem.SphereOnPlane, dict(sphere=body(), plane=ground(), radius=0.1, **DISC)),
    "SphereOnSphere": lambda: (
        fem.SphereOnSphere,
        dict(sphere_A=body(), sphere_B=body(1.0), radius_A=0.1, radius_B=0.1, **LAW),
    ),
    "SphereInSphere": lambda: (
        fem.SphereInSphere,
        dict(inner=body(), outer=ground(), radius=0.1, radius_outer=1.0, drawn=True, **LAW),
    ),
    "SphereOnCylinder": lambda: (
        fem.SphereOnCylinder,
        dict(sphere=body(), cylinder=ground(), radius=0.1, radius_cylinder=1.0, length=2.0, drawn_length=1.0, **LAW),
    ),
    "SphereInCylinder": lambda: (
        fem.SphereInCylinder,
        dict(sphere=body(), cylinder=ground(), radius=0.1, radius_cylinder=1.0, length=2.0, drawn_length=1.0, **LAW),
    ),
    "RingOnCylinder": lambda: (
        fem.RingOnCylinder,
        dict(ring=body(), cylinder=ground(), radius=0.1, radius_cylinder=0.05, **LAW),
    ),
    "RingOnPlane": lambda: (
        fem.RingOnPlane,
        dict(ring=body(), plane=ground(), radius=0.1, edge_radius=0.01, drawn_size=1.0, **FULL_LAW),
    ),
    "EllipsoidOnPlane": lambda: (
        fem.EllipsoidOnPlane,
        dict(ellipsoid=body(), plane=ground(), semi_axes=[0.1, 0.2, 0.3], drawn_size=1.0, **FULL_LAW),
    ),
    "SphereOnBox": lambda: (
        fem.SphereOnBox,
        dict(sphere=body(), box=ground(), radius=0.1, size=[2, 1, 0.4], rounding=0.1, drawn=True, **LAW),
    ),
    "SphereOnRectangle": lambda: (
        fem.SphereOnRectangle,
        dict(sphere=body(), plate=ground(), radius=0.1, size=[2, 1], drawn=True, **LAW),
    ),
    "SphereOnCapsule": lambda: (
        fem.SphereOnCapsule,
        dict(sphere=body(), capsule=ends(2.0), radius=0.1, radius_capsule=0.05, **LAW),
    ),
    "BeamSkin": lambda: (
        fem.BeamSkin,
        dict(
            line=fem.beam_line([0, 0, 0], [1, 0, 0], 2, fem.Section.circle(1e-3, E=1e9, density=1e3)),
            radius=1e-3,
            plane=None,
            sphere=None,
            cylinder=None,
            beams=fem.beam_line([0, 0, 1], [1, 0, 1], 2, fem.Section.circle(1e-3, E=1e9, density=1e3)),
            radius_other=1e-3,
            length=None,
            reach=2.0,
            name="s",
        ),
    ),
    "CapsuleOnCapsule": lambda: (
        fem.CapsuleOnCapsule,
        dict(capsule_A=ends(1.0), capsule_B=ends(2.0), radius_A=0.1, radius_B=0.05, **LAW),
    ),
    "CapsuleOnPlane": lambda: (
        fem.CapsuleOnPlane,
        dict(capsule=ends(1.0), plane=ground(), radius=0.1, drawn_size=1.0, **LAW),
    ),
    "BoxOnPlane": lambda: (
        fem.BoxOnPlane,
        dict(box=body(), plane=ground(), size=[1, 1, 1], rounding=0.1, planar="x", drawn_size=1.0, **LAW),
    ),
    "BoxOnBox": lambda: (
        fem.BoxOnBox,
        dict(
            box_A=body(),
            box_B=body(5.0),
            size_A=[1, 1, 1],
            size_B=[1, 1, 1],
            rounding=0.1,
            edges=True,
            planar=None,
            **LAW,
        ),
    ),
    "HullOnHull": lambda: (
        fem.HullOnHull,
        dict(hull_A=body(), hull_B=body(5.0), points_A=TETRAHEDRON, points_B=TETRAHEDRON, rounding=0.01, **LAW),
    ),
    "HullOnPlane": lambda: (
        fem.HullOnPlane,
        dict(hull=body(), plane=ground(), points=TETRAHEDRON, rounding=0.01, drawn_size=1.0, **LAW),
    ),
    "PointOnCurve": lambda: (
        fem.PointOnCurve,
        dict(
            point=body(),
            curve=ground(),
            points=[[-3, 0], [-1, 0.1], [1, 0], [3, 0]],
            closed=False,
            radius=0.01,
            side="left",
            width=1.0,
            **LAW,
        ),
    ),
    "PointOnSurface": lambda: (
        fem.PointOnSurface,
        dict(
            point=body(),
            surface=ground(),
            height=lambda x, y: 0.1 * x * y,
            x=(-1, 1),
            y=(-1, 1),
            cells=8,
            radius=0.01,
            drawn=True,
            **LAW,
        ),
    ),
    "SphereOnWire": lambda: (
        fem.SphereOnWire,
        dict(
            sphere=body(),
            wire=ground(),
            points=[[-3, 0, 0], [-1, 0.1, 0], [1, 0, 0], [3, 0, 0]],
            closed=False,
            radius=0.1,
            radius_wire=0.01,
            drawn=True,
            **LAW,
        ),
    ),
    "SphereInGroove": lambda: (
        fem.SphereInGroove,
        dict(
            sphere=body(),
            race=ground(),
            radius=0.1,
            radius_groove=0.105,
            radius_circle=1.0,
            side="outer",
            spall=None,
            drawn=True,
            **LAW,
        ),
    ),
    "CompliantContact": lambda: (
        fem.CompliantContact,
        dict(
            contact=fem.SphereOnPlane(body(), ground(), radius=0.1, restitution=0.5),
            stiffness=1e6,
            model="flores",
            exponent=1.5,
            restitution=0.5,
            friction=0.3,
            max_indentation=0.02,
            slip_speed=1e-3,
            least_speed=1e-3,
            simple_tangent=False,
            name="c",
        ),
    ),
    "CompliantContact, dashpot": lambda: (
        fem.CompliantContact,
        dict(
            contact=fem.SphereOnPlane(body(), ground(), radius=0.1),
            stiffness=1e6,
            model="kelvin-voigt",
            damping=10.0,
            exponent=1.0,
        ),
    ),
    "JournalClearance": lambda: (
        fem.JournalClearance,
        dict(
            journal=body(),
            bearing=ground(),
            radius=0.01,
            clearance=1e-4,
            length=0.1,
            shorter="journal",
            end_play=1e-3,
            compliant=None,
            **LAW,
        ),
    ),
    "SphericalClearance": lambda: (
        fem.SphericalClearance,
        dict(ball=body(), socket=ground(), radius=0.01, clearance=1e-4, compliant=None, **LAW),
    ),
    "PrismaticClearance": lambda: (
        fem.PrismaticClearance,
        dict(
            slider=body(),
            guide=ground(),
            size=[1, 1, 1],
            clearance=1e-3,
            planar="z",
            shorter="slider",
            compliant=None,
            **LAW,
        ),
    ),
    "ContactGroup": lambda: (fem.ContactGroup, dict(materials=None, skin=0.01, **LAW)),
    "ContactGroup, table": lambda: (fem.ContactGroup, dict(materials={("a", "b"): {"friction": 0.1}}, skin=0.01)),
    "ContactGroup.sphere": lambda: (fem.ContactGroup(name="g").sphere, dict(body=body(), radius=0.1, material="a")),
    "ContactGroup.hull": lambda: (
        fem.ContactGroup(name="g").hull,
        dict(body=body(), points=TETRAHEDRON, rounding=0.01, material="a"),
    ),
    "ContactGroup.mesh": lambda: (
        fem.ContactGroup(name="g").mesh,
        dict(body=body(), mesh=[TETRAHEDRON], rounding=0.01, material="a"),
    ),
    "convex_parts": lambda: (fem.convex_parts, dict(mesh=[TETRAHEDRON], most=3, concavity=0.1, corners=8, seed=1)),
    "ContactGroup.obstacle": lambda: (
        fem.ContactGroup(name="g").obstacle,
        dict(kind=fem.SphereOnBox, body=ground(), material="a", size=[1, 1, 1]),
    ),
    "ContactGroup.exclude": lambda: (fem.ContactGroup(name="g").exclude, dict(first=body(), second=body())),
    "AnisotropicFriction": lambda: (fem.AnisotropicFriction, dict(along=0.2, across=0.5, axis=[1, 0, 0])),
    "PowerRestitution": lambda: (fem.PowerRestitution, dict(restitution=0.8, speed=0.1, exponent=0.25)),
    "MaterialTable": lambda: (fem.MaterialTable, dict(laws={("a", "b"): {"friction": 0.1}})),
    "MaterialTable.law": lambda: (fem.MaterialTable({("a", "b"): {"friction": 0.1}}).law, dict(first="a", second="b")),
    # contacts of Hertz, shapes
    "HertzContact": lambda: (
        fem.hertz.HertzContact,
        dict(radii_1=[0.1, 0.2], radii_2=np.inf, E=210e9, nu=0.3, angle=0.1, name="h"),
    ),
    "HertzContact.from_curvatures": lambda: (
        fem.hertz.HertzContact.from_curvatures,
        dict(curvatures_1=[10.0, 5.0], curvatures_2=0.0, E=210e9, nu=0.3, angle=0.1, name="h"),
    ),
    "HertzContact.stress": lambda: (
        fem.hertz.HertzContact(0.1, np.inf, E=210e9, nu=0.3).stress,
        dict(force=10.0, depth=1e-5, body=1),
    ),
    "LineContact": lambda: (
        fem.hertz.LineContact,
        dict(radius_1=0.1, radius_2=np.inf, length=0.1, E=210e9, nu=0.3, reference_depth=0.1, name="h"),
    ),
    "Sphere": lambda: (
        fem.shapes.Sphere,
        dict(radius=0.1, resolution=8, offset=[0, 0, 1], rotation=[0, 0, 0.1], color="brown"),
    ),
    "Box": lambda: (fem.shapes.Box, dict(size=[1, 1, 1], offset=[0, 0, 1])),
    "Cylinder": lambda: (fem.shapes.Cylinder, dict(p1=[0, 0, 0], p2=[0, 0, 1], radius=0.1, resolution=8)),
    "Patch": lambda: (fem.shapes.Patch, dict(size=[1, 1])),
    "Mesh": lambda: (
        fem.shapes.Mesh,
        dict(points=np.eye(3), faces=[[0, 1, 2]], edges=[[0, 1]], offset=[0, 0, 1], color=[1, 0, 0]),
    ),
}
