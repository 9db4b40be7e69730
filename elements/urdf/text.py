"""Contents of a URDF file as plain data: links with inertia and pictures, joints with limits.

The file is XML with a dozen tags, which the standard library reads. As other readers of URDF do, it accepts what strict
XML forbids: a declaration that does not come first, prefixes that are not declared, text in another encoding than
declared. Data that a model does not need is no error: a picture that cannot be read, or an inertia of a link on the
ground, raises an error where it is used. Poses are ``xyz`` and ``rpy``, rotations about the fixed axes x, y, z in
this order:

    R = R_z(yaw) R_y(pitch) R_x(roll)                                                                              (1)

Source: docs/theory/urdf.md, (1); specification of URDF (wiki.ros.org/urdf/XML).
"""

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.arguments.spelling import listed, meant
from fem_mbs.errors import ParameterError, Warnings
from fem_mbs.mesh.text_files import decoded
from fem_mbs.rotations import exp

KINDS = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
GEOMETRIES = ("box", "cylinder", "capsule", "sphere", "mesh")
READ = {
    "robot": ("link", "joint", "material", "gazebo", "transmission", "sensor", "ros2_control"),
    "link": ("inertial", "visual", "collision", "gazebo", "contact", "sensor"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry", "material"),
}
LARGEST = 1e50  # of a number; a limit beyond is infinite
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")  # of <inertia>


class Pose(NamedTuple):
    """Position (3,) [m] and rotation (3, 3) of a frame in another one."""

    p: np.ndarray
    R: np.ndarray

    def then(self, other: "Pose") -> "Pose":
        """Pose of an object with the pose ``other`` in this frame."""
        return Pose(self.p + self.R @ other.p, self.R @ other.R)


AT_ORIGIN = Pose(np.zeros(3), np.eye(3))


class Picture(NamedTuple):
    """Geometry of a visual or a collision: its tag, its attributes, where it is and its colour (3,) or None.

    ``error``: why it cannot be read; raised where it is drawn or gives a mass.
    """

    kind: str
    sizes: dict[str, Any]
    pose: Pose
    color: Any
    error: ParameterError | None = None


class Link(NamedTuple):
    """A link: mass [kg], pose of the inertial frame in the link, inertia (3, 3) [kg m²] in its axes; pictures.

    ``error``: why its <inertial> cannot be read; raised where it moves.
    """

    name: str
    mass: float
    center: Pose
    inertia: np.ndarray
    visuals: list[Picture]
    collisions: list[Picture]
    error: ParameterError | None = None


class Limits(NamedTuple):
    """Limits of a joint: of its coordinate [rad or m], of its effort [N m or N] and its rate; None: not given."""

    lower: float | None
    upper: float | None
    effort: float | None
    velocity: float | None
    given: bool = False  # both lower and upper are in the file


class Mimic(NamedTuple):
    """The joint that a joint follows: value = multiplier · value of that joint + offset."""

    joint: str
    multiplier: float
    offset: float


class JointText(NamedTuple):
    """A joint: origin in the parent link, where the child link is at zero; axis (3,), unit, in the child's axes."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: np.ndarray
    limits: Limits | None
    damping: float
    friction: float
    mimic: Mimic | None


class Robot(NamedTuple):
    """A file: name, links and joints by name, and the folder that names of meshes begin from."""

    name: str
    links: dict[str, Link]
    joints: dict[str, JointText]
    folder: Path


def roll_pitch_yaw(rpy: np.ndarray) -> np.ndarray:
    """Rotation matrix (3, 3) of (1) for angles (3,) [rad]."""
    x, y, z = np.eye(3)
    return exp(rpy[2] * z) @ exp(rpy[1] * y) @ exp(rpy[0] * x)


def angles_of(R: np.ndarray) -> np.ndarray:
    """Roll, pitch and yaw (3,) [rad] of a rotation matrix, the inverse of (1).

    Near a pitch of ±90°, where only roll ∓ yaw has a meaning, yaw is that which belongs to the roll.
    """
    roll = np.arctan2(R[2, 1], R[2, 2])
    pitch = np.arctan2(-R[2, 0], np.hypot(R[2, 1], R[2, 2]))
    cosine, sine = np.cos(roll), np.sin(roll)
    yaw = np.arctan2(sine * R[0, 2] - cosine * R[0, 1], cosine * R[1, 1] - sine * R[1, 2])
    return np.array([roll, pitch, yaw])


def read_urdf(owner: Any, given: Any) -> Robot:
    """Read a file, or text that begins with "<".

    Raises
    ------
    ParameterError
        A file that is not there, is no XML or no URDF, or that has been made for xacro; tags and attributes that are
        missing, doubled or no numbers.
    """
    owner.as_instance("urdf", given, (str, os.PathLike), "the path of a file, or its text")
    text, folder, shown = given, Path.cwd(), "…"
    if not (isinstance(given, str) and given.lstrip("\ufeff \t\r\n").startswith("<")):
        path, shown = Path(given), str(given)
        try:
            text, folder = decoded(path.read_bytes()), path.resolve().parent
        except (OSError, ValueError) as error:
            raise ParameterError(owner, "urdf", shown, f"cannot be read: {error}") from None
    try:
        root = _tree_of(text)
    except (expat.ExpatError, ET.ParseError, ValueError) as error:
        why = f"is no XML: {error}. Check tags and quotes there; & is written &amp;"
        raise ParameterError(owner, "urdf", shown, why) from None
    message = f"has <{root.tag}> as its outermost tag; that of URDF is <robot>"
    owner.check(root.tag == "robot", "urdf", shown, message)
    macros = any("xacro" in part.tag or any("${" in value for value in part.attrib.values()) for part in root.iter())
    owner.check(not macros, "urdf", shown, "has macros of xacro; expand them first: xacro FILE.xacro > FILE.urdf")
    return _Reader(root, folder).robot()


def _tree_of(text):
    """Elements of a text. Prefixes of names are kept, also undeclared ones."""
    declaration = r"<\?xml\s[^>]*\?>"  # may come after comments; the text is decoded, so nothing is lost
    text = re.sub(declaration, lambda found: "\n" * found[0].count("\n"), text, count=1)
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(text.removeprefix("\ufeff").rstrip("\x00 \t\r\n"), True)
    return builder.close()


class _Reader:
    """Reads the tags of one file. Messages name the link or joint that is read."""

    def __init__(self, root: ET.Element, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.colors, self.owner = {}, Named("URDF", root.get("name") or "robot")
        self.partial: dict[str, list[str]] = {}  # attributes that <inertia> of a link lacks

    def robot(self) -> Robot:
        """Read the whole file."""
        self._known(self.root, "robot")
        for material in self.root.findall("material"):
            self.colors[material.get("name")] = self._rgb(material)
        links = self._by_name("link", self._link)
        self.owner.check(links, "link", 0, "links are in the file; at least one is needed")
        self._warn_of_partial_inertias()
        return Robot(self.root.get("name") or "robot", links, self._by_name("joint", self._joint), self.folder)

    def _by_name(self, tag, read):
        found = {}
        for part in self.root.findall(tag):
            self.owner = Named("URDF", self.root.get("name") or "robot")
            name = self._text(part, "name")
            self.owner.check(name not in found, f"{tag} name", name, "is taken; names must be unique")
            self.owner = Named(f"URDF {tag}", name)
            self._known(part, tag)
            found[name] = read(name, part)
        return found

    def _link(self, name, part):
        given, error = (0.0, AT_ORIGIN, np.zeros((3, 3))), None
        try:
            given = self._inertial(name, part)
        except ParameterError as found:
            error = found
        visuals, collisions = ([self._picture(one) for one in part.findall(tag)] for tag in ("visual", "collision"))
        return Link(name, *given, visuals, collisions, error)

    def _inertial(self, name, part):
        """Mass, pose of the inertial frame and inertia of a link."""
        mass, inertia = 0.0, np.zeros((3, 3))
        inertial = self._one(part, "inertial")
        if inertial is None:
            return mass, AT_ORIGIN, inertia
        self._known(inertial, "inertial")
        weight, tensor = self._one(inertial, "mass"), self._one(inertial, "inertia")
        self.owner.check(weight is not None, "inertial", "…", "has no <mass value=…>")
        mass = self.owner.number("mass", self._number(weight, "value"), "kg", at_least=0)
        self.owner.check(tensor is not None or mass == 0.0, "inertial", "…", "has no <inertia ixx=… …>")
        if tensor is not None:
            missing = [attribute for attribute in MOMENTS if tensor.get(attribute) is None]
            if missing:
                self.partial[name] = missing
            xx, xy, xz, yy, yz, zz = (self._number(tensor, attribute, 0.0) for attribute in MOMENTS)
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return mass, self._pose(inertial), inertia

    def _picture(self, part):
        self._known(part, part.tag)
        try:
            kind, sizes = self._geometry(part)
            return Picture(kind, sizes, self._pose(part), self._color(part))
        except ParameterError as error:
            return Picture(part.tag, {}, AT_ORIGIN, None, error)

    def _geometry(self, part):
        """Tag and sizes of the geometry of a picture."""
        geometry = self._one(part, "geometry")
        self.owner.check(geometry is not None and len(geometry) == 1, part.tag, "…", "must have one <geometry>")
        shape = geometry[0]
        if shape.tag not in GEOMETRIES:
            hint = meant(shape.tag, GEOMETRIES)
            hint = f"; {hint}" if hint.startswith("did you mean") else ""
            why = f"is not supported; URDF has {listed(GEOMETRIES)}{hint}"
            self.owner.check(False, f"{part.tag} geometry", shape.tag, why)
        if shape.tag == "box":
            return shape.tag, {"size": self._vector(shape, "size")}
        if shape.tag == "mesh":
            scale = self._vector(shape, "scale", np.ones(3))
            return shape.tag, {"filename": self._text(shape, "filename"), "scale": scale}
        names = ("radius",) if shape.tag == "sphere" else ("radius", "length")
        sizes = {n: self.owner.positive(f"{part.tag} {n}", self._number(shape, n), "m") for n in names}
        return shape.tag, sizes

    def _color(self, part):
        """Colour (3,) of a picture, by its material or the name of one; None where it has none."""
        material = self._one(part, "material")
        if material is None:
            return None
        color = self._rgb(material)
        return self.colors.get(material.get("name")) if color is None else color

    def _rgb(self, material):
        """Colour (3,) of a material; None where it has none, with a warning where it cannot be read."""
        try:
            color = self._one(material, "color")
            if color is None:
                return None
            few = len(color.get("rgba", "").split()) == 3
            return np.clip(self._vector(color, "rgba", n=3 if few else 4)[:3], 0.0, 1.0)
        except ParameterError as error:
            Warnings.issue(f"{error}. No colour is used")
            return None

    def _joint(self, name, part):
        kind = self._text(part, "type")
        hint = meant(kind, KINDS)
        self.owner.check(kind in KINDS, "type", kind, f"is no type of joint of URDF; {hint}")
        ends = {}
        for end in ("parent", "child"):
            tag = self._one(part, end)
            self.owner.check(tag is not None, end, None, f"is missing: <{end} link=…>")
            ends[end] = self._text(tag, "link")
        axis, tag = np.array([1.0, 0.0, 0.0]), self._one(part, "axis")
        if tag is not None and kind not in ("fixed", "floating"):
            axis = self._vector(tag, "xyz")
            length = np.linalg.norm(axis)
            self.owner.check(length > 1e-9, "axis", axis, "has no direction")
            axis = axis / length
        damping = friction = 0.0
        tag = self._one(part, "dynamics")
        if tag is not None:
            damping, friction = (
                self.owner.number(n, self._number(tag, n, 0.0), at_least=0) for n in ("damping", "friction")
            )
        return JointText(name, kind, *ends.values(), self._pose(part), axis, self._limits(part), damping, friction,
                         self._mimic(part))  # fmt: skip

    def _limits(self, part):
        tag = self._one(part, "limit")
        if tag is None:
            return None
        ends = [self._number(tag, n, 0.0, finite=False) for n in ("lower", "upper")]
        most = (self._number(tag, n, None, finite=False) for n in ("effort", "velocity"))
        return Limits(*ends, *most, given=tag.get("lower") is not None and tag.get("upper") is not None)

    def _mimic(self, part):
        tag = self._one(part, "mimic")
        if tag is None:
            return None
        return Mimic(self._text(tag, "joint"), self._number(tag, "multiplier", 1.0), self._number(tag, "offset", 0.0))

    # --- tags and attributes ------------------------------------------------------------------------------------------

    def _known(self, part, kind):
        """Warn about tags that are not part of URDF: a misspelt one would be missing."""
        for child in part:
            if isinstance(child.tag, str) and child.tag not in READ[kind]:
                self._tell(f"<{child.tag}> in <{kind}> is not read; {meant(child.tag, READ[kind])}")

    def _warn_of_partial_inertias(self):
        """Report links whose <inertia> lacks attributes, once for the file."""
        if not self.partial:
            return
        self.owner = Named("URDF", self.root.get("name") or "robot")
        lacking = sorted({attribute for missing in self.partial.values() for attribute in missing}, key=MOMENTS.index)
        links = ", ".join(f"'{name}'" for name in self.partial)
        self._tell(
            f"<inertia> of {links} lacks {', '.join(lacking)}; 0 is used. URDF requires all of {', '.join(MOMENTS)}, "
            "and other programs do not read a file without them: add the missing ones"
        )

    def _tell(self, message):
        name = self.owner.name
        Warnings.issue(f"{type(self.owner).__name__} '{name}': {message}")

    def _one(self, part, tag):
        found = part.findall(tag)
        self.owner.check(len(found) <= 1, f"<{tag}>", len(found), f"of them are in <{part.tag}>; one is allowed")
        return found[0] if found else None

    def _pose(self, part):
        tag = self._one(part, "origin")
        if tag is None:
            return AT_ORIGIN
        zero = np.zeros(3)
        return Pose(self._vector(tag, "xyz", zero), roll_pitch_yaw(self._vector(tag, "rpy", zero)))

    def _text(self, part, attribute):
        value = part.get(attribute)
        self.owner.check(value, attribute, value, f"is missing in <{part.tag}>")
        return value

    def _vector(self, part, attribute, default=None, n=3):
        text = part.get(attribute)
        if text is None and default is not None:
            return default
        self.owner.check(text is not None, attribute, None, f"is missing in <{part.tag}>")
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([np.nan])
        good = values.shape == (n,) and bool((np.abs(values) < LARGEST).all())
        self.owner.check(good, f"{attribute} of <{part.tag}>", text, f"must be {n} number{'s' * (n > 1)}")
        return values

    def _number(self, part, attribute, default=np.nan, finite=True):
        """An attribute as a number; without a default it must be there."""
        if part.get(attribute) is None and (default is None or np.isfinite(default)):
            return default
        if not finite:  # infinite, or a number as large as programs write for it
            try:
                value = float(part.get(attribute, "nan"))
            except ValueError:
                value = np.nan
            if abs(value) >= LARGEST:
                return float(np.copysign(np.inf, value))
        return float(self._vector(part, attribute, n=1)[0])
