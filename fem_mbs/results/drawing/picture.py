"""Pictures and animations, drawn off-screen with PyVista (optional: ``pip install fem_mbs[pictures]``).

Bodies are drawn with their edges, beams in the colours of a section force, joints as points, closed contacts with an
arrow along the force on the first body, which nothing hides. The length of an arrow is proportional to the square root
of the force, so that a body at rest and an impact are both seen.
"""

import ctypes.util
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.arguments.spelling import listed
from fem_mbs.errors import FemMbsError
from fem_mbs.results.drawing.notebook import Film, Picture
from fem_mbs.results.drawing.options import VIEWS, as_color, as_file, as_view, as_window
from fem_mbs.results.drawing.skin import BEAM, BODY, LINE, SPAN, SPRING

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

INK, CONTACT_COLOR = "#3c4043", "#d62728"
MATERIAL = {"smooth_shading": True, "ambient": 0.35, "diffuse": 0.75, "specular": 0.15}
SAMPLES = 60  # saved steps looked at for the range of colours and the frame of an animation
COLOR_FIELDS = {
    # name: field, components, text
    "normal force": ("section_force", (0,), "normal force [N]"),
    "shear force": ("section_force", (1, 2), "shear force [N]"),
    "torsion": ("section_moment", (0,), "torsion moment [N m]"),
    "bending moment": ("section_moment", (1, 2), "bending moment [N m]"),
    "von_mises": ("von_mises", (0,), "von Mises stress [Pa]"),
    "largest stress": ("principal_stress", (2,), "largest principal stress [Pa]"),
    "smallest stress": ("principal_stress", (0,), "smallest principal stress [Pa]"),
}
FINE = 4000  # lines on the faces of solids: of more only a dark body would be left


@Keywords.known
def picture(
    result: "Results",
    save: str | Path | None = None,
    *,
    time: float | Sequence[float] | None = None,
    color: str | None = None,
    arrows: bool = True,
    view: Any = None,
    zoom: float = 1.0,
    size: tuple[int, int] = (1280, 720),
    caption: bool = True,
) -> Picture:
    """Draw a model at one time, or at several in one picture.

    Parameters
    ----------
    result : Results
    save : path, optional
        Image file, .png, .jpg or .jpeg.
    time : float or sequence of float, optional [s]
        The nearest saved steps are drawn; default: the last. Of several, earlier ones are drawn fainter.
    color : str, optional
        What colours the beams: "bending moment" (default), "normal force", "shear force" or "torsion"; or the solids:
        "von_mises" (default where there are no beams), "largest stress" or "smallest stress", the principal ones.
    arrows : bool
        Draw contact forces.
    view : {"iso", "x", "y", "z"} or (3,), optional
        From where the camera looks; default: straight on for a planar motion, else "iso".
    zoom : float > 0
        Larger than 1 comes nearer.
    size : (width, height) [pixels]
    caption : bool
        Write the time in the corner.

    Returns
    -------
    (height, width, 3) uint8
        Notebooks display it as an image.
    """
    owner = Named("picture")
    save = as_file(owner, save, (".png", ".jpg", ".jpeg"), optional=True)
    caption = owner.as_flag("caption", caption)
    times = result.t[-1:] if time is None else np.atleast_1d(owner.as_array("time", time, (), (None,), unit="s"))
    owner.check(len(times) > 0, "time", time, "must be a time, or several")
    chosen = [result.at(t) for t in times]
    stage = _Stage(result, chosen, color=color, arrows=arrows, view=view, zoom=zoom, size=size)
    for n, step in enumerate(chosen):
        faint = 1.0 if len(chosen) == 1 else 0.15 + 0.85 * ((n + 1) / len(chosen)) ** 2
        stage.draw(step, label=str(n), opacity=faint)
    if caption and len(chosen) == 1:
        stage.caption(result.t[chosen[0]])
    image = stage.image()
    stage.close()
    if save is not None:
        from PIL import Image

        Image.fromarray(image).save(save)
    return image.view(Picture)


@Keywords.known
def animate(
    result: "Results",
    save: str | Path,
    *,
    fps: float = 25,
    speed: float | None = None,
    start: float | None = None,
    end: float | None = None,
    color: str | None = None,
    arrows: bool = True,
    view: Any = None,
    zoom: float = 1.0,
    size: tuple[int, int] = (960, 540),
    caption: bool = True,
) -> Path:
    """Draw a run as an animation.

    Parameters
    ----------
    save : path
        .gif or .webp; .mp4 needs ``pip install imageio imageio-ffmpeg``.
    fps : float > 0 [1/s]
        Pictures per second.
    speed : float > 0, optional
        Seconds of the motion per second of the film: 0.1 is slow motion. Default: a film of about 6 s.
    start, end : float, optional [s]
        Part of the run.
    color, arrows, view, zoom, size, caption : as `picture`

    Returns
    -------
    pathlib.Path of the file
        Notebooks play it.
    """
    owner = Named("animation")
    path = Film(as_file(owner, save, (".gif", ".webp", ".mp4")))
    fps, caption = owner.positive("fps", fps, "1/s"), owner.as_flag("caption", caption)
    speed = None if speed is None else owner.positive("speed", speed)
    start, end = (None if t is None else owner.number(n, t, "s") for n, t in (("start", start), ("end", end)))
    first, last = result.t[0] if start is None else start, result.t[-1] if end is None else end
    if last <= first:
        raise FemMbsError(f"animation {path}: nothing to show between t = {first:g} s and {last:g} s")
    speed = (last - first) / 6.0 if speed is None else speed
    times = np.minimum(np.arange(first, last + 0.5 * speed / fps, speed / fps), last)
    chosen = [result.at(t) for t in times]
    stage = _Stage(result, chosen, color=color, arrows=arrows, view=view, zoom=zoom, size=size, film=True)
    images = []
    for step in chosen:
        stage.draw(step)
        if caption:
            stage.caption(result.t[step])
        images.append(stage.image())
    stage.close()
    _write_film(path, images, fps)
    return path


def _write_film(path, images, fps):
    if path.suffix.lower() == ".mp4":
        try:
            import imageio.v2 as imageio
            import imageio_ffmpeg  # noqa: F401
        except ImportError:
            raise FemMbsError("mp4 needs 'pip install imageio imageio-ffmpeg'; or write a .gif") from None
        imageio.mimwrite(path, images, fps=fps, macro_block_size=2, quality=8)
        return
    from PIL import Image

    frames = [Image.fromarray(image) for image in images]
    if path.suffix.lower() == ".gif":
        # one palette for all frames: no flicker; by coverage: a small red arrow counts as much as the background
        coarse = np.vstack([image[::4, ::4] for image in images])
        palette = Image.fromarray(coarse).quantize(255, method=Image.Quantize.MAXCOVERAGE)
        colors = np.array(palette.getpalette()).reshape(-1, 3)
        colors[np.argmax(colors.sum(axis=1))] = 255  # the background is white, not nearly white
        palette.putpalette(colors.ravel().tolist())
        frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=round(1000 / fps), loop=0, optimize=False)


def _pyvista():
    """PyVista, with a way to draw that works without a display."""
    try:
        import pyvista
    except ImportError:
        raise FemMbsError("pictures need PyVista: pip install 'fem_mbs[pictures]'") from None
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not screen and "VTK_DEFAULT_OPENGL_WINDOW" not in os.environ:
        if ctypes.util.find_library("OSMesa"):
            os.environ["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkOSOpenGLRenderWindow"
        elif ctypes.util.find_library("EGL"):
            os.environ["VTK_DEFAULT_OPENGL_WINDOW"] = "vtkEGLRenderWindow"
        else:
            raise FemMbsError(
                "pictures need OpenGL, and this machine has no display and no off-screen library; "
                "install one, on Debian or Ubuntu: apt-get install libosmesa6"
            )
    return pyvista


class _Stage:
    """A PyVista plotter set up for one run: camera, colour range, arrow scale."""

    def __init__(
        self,
        result: "Results",
        chosen: Sequence[int] | np.ndarray,
        *,
        color: str | None,
        arrows: bool,
        view: Any,
        zoom: float,
        size: Sequence[int],
        film: bool = False,
        off_screen: bool = True,
    ) -> None:
        self.result, self.scene, self.skin = result, result.scene, result.skin
        self.film, owner = film, Named("picture")
        size, view, color = as_window(owner, size), as_view(owner, view), as_color(owner, color)
        zoom, arrows = owner.positive("zoom", zoom), owner.as_flag("arrows", arrows)
        self.arrows = arrows and self.skin.n_contacts > 0
        if self.skin.n_points == 0:
            raise FemMbsError(f"model '{result.model}' has nothing to draw; give its bodies a shape")
        self.pv = _pyvista()
        self.plotter = self.pv.Plotter(off_screen=off_screen, window_size=size, lighting="light kit")
        self.plotter.set_background("white")
        self.plotter.enable_anti_aliasing("msaa" if film else "ssaa")
        # nothing is rendered before the image is asked for
        self.add = functools.partial(self.plotter.add_mesh, render=False, reset_camera=False)
        self.color = self._color_field(color)
        self._survey(chosen)
        self._place_camera(view, zoom)

    def _color_field(self, color):
        there = [name for name, (field, _, _) in COLOR_FIELDS.items() if field in self.scene.fields]
        if color is not None and color not in COLOR_FIELDS:
            raise FemMbsError(f"color = {color!r}; allowed: {', '.join(COLOR_FIELDS)}")
        if not there:
            return None
        color = next(name for name in ("bending moment", "von_mises") if name in there) if color is None else color
        if color not in there:
            has = listed(there)
            raise FemMbsError(f"color = {color!r} is of what this model does not have; it has {has}")
        return COLOR_FIELDS[color]

    def _survey(self, chosen):
        """Points that the picture must hold, range of colours and largest contact force of the run."""
        samples = np.unique(np.concatenate([chosen, np.linspace(0, len(self.result.t) - 1, SAMPLES).astype(int)]))
        self.drawn, self.limits, self.top_force = [], [0.0, 0.0], 0.0
        rows = self.result.rows(samples)
        for i, step in enumerate(samples):
            points, data = self.scene.frames({name: values[i : i + 1] for name, values in rows.items()})
            if step in chosen:
                self.drawn.append(np.delete(points[0], self.skin.contact_points, axis=0))
            if self.color:
                values = self._scalars(data)
                self.limits = [min(self.limits[0], values.min()), max(self.limits[1], values.max())]
            if self.skin.n_contacts:
                self.top_force = max(self.top_force, np.linalg.norm(data["contact_force"], axis=-1).max())
        self.drawn = self._framed()
        self.extent = float(np.linalg.norm(np.ptp(self.drawn, axis=0))) or 1.0
        if self.limits[0] < 0 < self.limits[1] and self.color and len(self.color[1]) == 1:
            most = max(-self.limits[0], self.limits[1])
            self.limits = [-most, most]

    def _framed(self):
        """Points (…, 3) that the picture must hold: all that moves, and of the ground what is near to it."""
        points = np.stack(self.drawn)
        fixed = [not any(node["free"]) for node in self.result.description["nodes"]]
        still = np.zeros(points.shape[1], bool)
        still[: self.skin.n_fixed] = np.array(fixed)[self.skin.node]
        moving = points[:, ~still].reshape(-1, 3)
        if not len(moving):
            return points.reshape(-1, 3)
        low, high = moving.min(axis=0), moving.max(axis=0)
        margin = 0.6 * np.linalg.norm(high - low)
        return np.vstack([moving, np.clip(points[0, still], low - margin, high + margin)])

    def _scalars(self, data):
        """Colour value of each point: a component, or the length of two."""
        field, components, _ = self.color
        values = data[field][0][:, components]
        return values[:, 0] if len(components) == 1 else np.linalg.norm(values, axis=1)

    def _place_camera(self, view, zoom):
        camera = self.plotter.camera
        name = plane_of_motion(self.result) if view is None else view
        if isinstance(name, str) and name not in VIEWS:
            raise FemMbsError(f"view = {view!r}; allowed: {', '.join(VIEWS)} or a direction (3,)")
        direction = np.array(VIEWS[name] if isinstance(name, str) else name, float)
        up = self._up()
        if abs(direction @ up) > 0.99 * np.linalg.norm(direction):
            up = np.array([0.0, 1.0, 0.0]) if abs(up[1]) < 0.9 else np.array([0.0, 0.0, -1.0])
        elif not isinstance(name, str) or name == "iso":
            # the standard direction is meant with z up
            direction = direction if abs(up[2]) > 0.5 else np.array([0.8, 0.7, 1.4])
        direction /= np.linalg.norm(direction)
        right = np.cross(up, direction)
        right /= np.linalg.norm(right)
        above = np.cross(direction, right)
        # what is drawn, as the camera sees it: its middle and half sizes
        seen = self.drawn @ np.stack([right, above, direction], axis=1)
        low, high = seen.min(axis=0), seen.max(axis=0)
        middle = 0.5 * (low + high) @ np.stack([right, above, direction])
        width, height = 0.5 * (high - low)[:2]
        aspect = self.plotter.window_size[0] / self.plotter.window_size[1]
        # margins of 12 %, more at the sides where the scalar bar is
        half = max(1.12 * height, (1.3 if self.color else 1.12) * width / aspect, 1e-6 * self.extent) / zoom
        distance = 3.0 * self.extent
        camera.focal_point, camera.up, camera.position = middle, up, middle + distance * direction
        camera.parallel_projection = name in ("x", "y", "z")
        camera.parallel_scale = half
        if not camera.parallel_projection:
            camera.view_angle = 2 * np.degrees(np.arctan(half / (distance - 0.5 * (high - low)[2])))
        camera.clipping_range = (0.5 * self.extent, 10 * self.extent)
        # lines look thinner where several pixels are averaged into one
        self.line_width = max(1.0, self.plotter.window_size[0] / (900 if self.film else 550))

    def _up(self):
        """Opposite to gravity; z without gravity."""
        gravity = np.array(self.result.description["gravity"])
        if not gravity.any():
            return np.array([0.0, 1.0, 0.0]) if plane_of_motion(self.result) == "z" else np.array([0.0, 0.0, 1.0])
        axis = int(np.argmax(np.abs(gravity)))
        return -np.sign(gravity[axis]) * np.eye(3)[axis]

    def draw(self, step: int, label: str = "", opacity: float = 1.0) -> None:
        """Draw one saved step; replaces what was drawn with the same label."""
        points, data = self.scene.frames(self.result.rows([step]))
        points, add = points[0], self.add
        surface, rgb = self._surface(points, BODY)
        if surface is not None:
            surface.cell_data["rgb"] = rgb
            surface = self._smooth(surface)
            add(surface, scalars="rgb", rgb=True, name="bodies" + label, opacity=opacity, **MATERIAL)
        surface, rgb = self._surface(points, BEAM)
        if surface is not None:
            style = self._style(surface, data, "section", tuple(rgb[0] / 255))
            add(self._smooth(surface), name="beams" + label, opacity=opacity, **MATERIAL, **style)
        self._draw_solids(points, data, label, opacity)
        self._draw_lines(points, label, opacity)
        if self.arrows:
            self._draw_contacts(points, data, label)

    def _style(self, surface, data, kind, plain):
        """How a surface is coloured: by the field of the picture if that is of this kind, else all alike."""
        if not self.color or self.color[0].startswith("section") != (kind == "section"):
            return {"color": plain}
        surface.point_data["value"] = self._scalars(data)
        symmetric = len(self.color[1]) == 1 and self.limits[0] < 0
        return {
            "scalars": "value",
            "cmap": "coolwarm" if symmetric else "viridis",
            "clim": self.limits if self.limits[1] > self.limits[0] else [0.0, 1.0],
            "scalar_bar_args": self._bar(),
        }

    def _draw_solids(self, points, data, label, opacity):
        """Outer faces of solid elements, with their edges."""
        triangles, lines = self.skin.solid_surface
        if not len(triangles):
            return
        surface = self.pv.PolyData(points, faces=np.insert(triangles, 0, 3, axis=1).ravel())
        style = self._style(surface, data, "solid", (0.6, 0.68, 0.78))
        self.add(self._smooth(surface), name="solids" + label, opacity=opacity, **MATERIAL, **style)
        if len(lines) <= FINE:
            edges = self.pv.PolyData(points, lines=np.insert(lines, 0, 2, axis=1).ravel())
            drawn = self.add(
                edges, color=INK, line_width=0.5 * self.line_width, name="cells" + label, opacity=0.5 * opacity,
                lighting=False,
            )  # fmt: skip
            _bring_forward(drawn, 1.2e-4)

    def _bar(self):
        size = 16 * self.plotter.window_size[0] / 1280
        return {
            "title": self.color[2] + "\n", "title_font_size": round(size), "label_font_size": round(0.9 * size),
            "color": INK, "n_labels": 5, "fmt": "%.3g", "vertical": True,
            "position_x": 0.88, "position_y": 0.25, "width": 0.06, "height": 0.5,
        }  # fmt: skip

    def _surface(self, points, kind):
        (triangles, rgb_3), (quads, rgb_4) = self.skin.faces([kind])
        if not len(triangles) + len(quads):
            return None, None
        faces = [np.insert(block, 0, block.shape[1], axis=1).ravel() for block in (triangles, quads) if len(block)]
        return self.pv.PolyData(points, faces=np.concatenate(faces)), np.vstack([rgb_3, rgb_4])

    @staticmethod
    def _smooth(surface):
        return surface.compute_normals(
            cell_normals=False,
            split_vertices=True,
            feature_angle=30.0,
            consistent_normals=False,
            auto_orient_normals=False,
        )

    def _draw_lines(self, points, label, opacity):
        skin, add = self.skin, self.add
        if len(skin.edges):
            lines = self.pv.PolyData(points, lines=np.insert(skin.edges, 0, 2, axis=1).ravel())
            edges = add(
                lines,
                color=INK,
                line_width=self.line_width,
                name="edges" + label,
                opacity=0.8 * opacity,
                lighting=False,
            )
            _bring_forward(edges, 1.2e-4)  # or half of them would drown in the surfaces they lie on
        springs = skin.cells(SPRING, LINE)
        coils = [coil(points[a], points[b], 0.02 * self.extent) for a, b in springs]
        coils = [line for line in coils if line is not None]
        if coils:
            blocks = self.pv.MultiBlock([self.pv.lines_from_points(line) for line in coils])
            lines = blocks.combine().extract_surface(algorithm=None)
            add(lines, color=INK, line_width=1.5 * self.line_width, name="springs" + label, opacity=opacity)
        spans = skin.cells(SPAN, LINE)
        if len(spans):
            lines = self.pv.PolyData(points, lines=np.insert(spans, 0, 2, axis=1).ravel())
            add(lines, color=INK, line_width=2.5 * self.line_width, name="spans" + label, opacity=opacity)
        if len(skin.joint_point):
            add(
                self.pv.PolyData(points[skin.joint_point]), color=INK, point_size=7 * self.line_width, opacity=opacity,
                render_points_as_spheres=True, name="joints" + label,
            )  # fmt: skip

    def _draw_contacts(self, points, data, label):
        force = data["contact_force"][0, self.skin.contact_points]
        where = points[self.skin.contact_points]
        size = np.linalg.norm(force, axis=1)
        closed = size > 1e-9 * self.top_force
        if not closed.any():
            self.plotter.remove_actor("contacts" + label, render=False)
            return
        cloud = self.pv.PolyData(where[closed])
        cloud["vector"] = force[closed] / size[closed, None]
        cloud["length"] = 0.18 * self.extent * np.sqrt(size[closed] / self.top_force)
        arrow = self.pv.Arrow(tip_length=0.25, tip_radius=0.06, shaft_radius=0.022)
        arrows = cloud.glyph(orient="vector", scale="length", factor=1.0, geom=arrow)
        drawn = self.add(arrows, color=CONTACT_COLOR, name="contacts" + label, show_scalar_bar=False, ambient=0.3)
        _bring_forward(drawn, 0.5)  # before the bodies, where nothing hides them

    def caption(self, t: float) -> None:
        """Write the time."""
        self.plotter.add_text(
            f"t = {t:.4g} s",
            position=(0.02, 0.93),
            viewport=True,
            color=INK,
            font_size=max(6, round(11 * self.plotter.window_size[0] / 1280)),
            name="time",
            font="arial",
            render=False,
        )

    def image(self) -> np.ndarray:
        """What is drawn, (height, width, 3) uint8."""
        self.plotter.render()
        return np.ascontiguousarray(self.plotter.screenshot(return_img=True)[..., :3])

    def close(self) -> None:
        """Free the plotter."""
        self.plotter.close()


def _bring_forward(actor, depth):
    """Draw an actor as if it were nearer to the camera, by a part of the depth of the picture; 1 is all of it."""
    mapper = actor.GetMapper()
    mapper.SetResolveCoincidentTopologyToPolygonOffset()
    units = -depth * 2**16  # of the depth buffer, as VTK counts them
    mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(0.0, units)
    mapper.SetRelativeCoincidentTopologyLineOffsetParameters(0.0, units)


def plane_of_motion(result: "Results") -> str:
    """Axis "x", "y" or "z" normal to the motion of all nodes if there is exactly one, else "iso"."""
    chosen = np.unique(np.linspace(0, len(result.t) - 1, SAMPLES).astype(int))
    rows = result.rows(chosen)
    x, w = rows["position"], rows["angular_velocity"]
    spread, extent = np.ptp(x, axis=0).max(axis=0), max(np.ptp(x.reshape(-1, 3), axis=0).max(), 1e-300)
    from fem_mbs.shapes import matrices

    turning = np.abs(np.einsum("...ij,...j->...i", matrices(rows["quaternion"]), w)).max(axis=(0, 1))
    still = spread < 1e-6 * extent
    axes = [k for k in range(3) if still[k] and np.delete(turning, k).max() <= 1e-6 * max(turning.max(), 1e-300)]
    return "xyz"[axes[0]] if len(axes) == 1 else "iso"


def coil(P: np.ndarray, Q: np.ndarray, radius: float, turns: int = 8) -> np.ndarray | None:
    """Points (k, 3) of a coil spring between two points; None when they coincide."""
    from fem_mbs.rotations import frame_with_axis

    length = np.linalg.norm(Q - P)
    if length < 1e-9 * radius:
        return None
    R = frame_with_axis((Q - P) / length)
    s = np.linspace(0, 1, 16 * turns + 1)
    angle, radius = 2 * np.pi * turns * s, min(radius, 0.15 * float(length))
    body = np.stack([radius * np.cos(angle), radius * np.sin(angle), (0.12 + 0.76 * s) * length], axis=1)
    ends = np.array([[0, 0, 0], [0, 0, 0.12 * length]]), np.array([[0, 0, 0.88 * length], [0, 0, length]])
    return P + np.vstack([ends[0], body, ends[1]]) @ R.T
