"""Command line ``fem-mbs``: run, resume, info, plot, picture, export, validate, check-tangents, solvers, warmup.

A script is run as it stands; ``--set`` changes variables that it assigns at its top level, or the defaults of its
``main``.
"""

import argparse
import ast
import inspect
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fem_mbs.errors import FemMbsError


class ScriptError(FemMbsError):
    """A script cannot be run with the options of the command line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 well, 1 a check failed, 2 an error, 130 interrupted."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if "what" in options:  # names of histories may stand after options, too
        options.what += [text for text in rest if not text.startswith("-")]
        rest = [text for text in rest if text.startswith("-")]
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if "do" not in options:
        parser.print_help()
        return 2
    try:
        return options.do(options) or 0
    except FemMbsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("interrupted; results files hold everything up to the last saved chunk", file=sys.stderr)
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="fem-mbs", description="Finite-element flexible multibody dynamics with impacts and friction."
    )
    parser.add_argument("--version", action="version", version=f"fem-mbs {_version()}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, do, arguments, text in (
        ("run", run_script, _run_arguments, "Run a model script; print its checks."),
        ("resume", resume_run, _resume_arguments, "Continue a run from its checkpoint."),
        ("info", show_info, _info_arguments, "Show the contents of a results file."),
        ("plot", make_plot, _plot_arguments,
         "Plot histories: fem-mbs plot run.vtkhdf ball.position.z energy -o ball.png"),
        ("picture", make_picture, _picture_arguments, "Draw the model (.png), or its motion (.gif, .webp, .mp4)."),
        ("export", make_export, _export_arguments, "Write frames in another format, or histories as a table."),
        ("validate", validate_cases, _validate_arguments,
         "Run published cases with every time stepper they apply to."),
        ("check-tangents", check_tangents, _tangents_arguments,
         "Compare tangents of elements with finite differences."),
        ("solvers", show_solvers, None, "Show which linear solvers are active and what to install for more."),
        ("warmup", warm_up, _warmup_arguments, "Compile what models need, before the first of them runs."),
    ):  # fmt: skip
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(do=do)
        if arguments is not None:
            arguments(command.add_argument)
    return parser


def _run_arguments(add):
    add("script", type=Path)
    add("--t-end", type=float, metavar="S", help="end time [s] in place of the script's")
    add("--h", type=float, metavar="S", help="step size [s] in place of the script's")
    add(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="change a value assigned at the top level of the script, or a default of its main(); may be repeated",
    )  # fmt: skip
    add("--out", type=Path, metavar="DIR", help="folder for results files")
    add("--quiet", action="store_true", help="no progress bar")


def _resume_arguments(add):
    add("file", type=Path, help="results file of a run with checkpoint_every, or its checkpoint")
    add("--t-end", type=float, metavar="S", help="end time [s]; default: that of the run")
    add("--quiet", action="store_true", help="no progress bar")


def _info_arguments(add):
    add("file", type=Path)


def _plot_arguments(add):
    add("file", type=Path)
    add("what", nargs="*", help="name.history[.component], energy, iterations, violation")
    add("-o", "--output", type=Path, help="image file (.png, .pdf, .svg); default: a window")
    add("--component", help="component of vectors: x, y, z, normal, t1 … or norm")
    add("--title")


def _picture_arguments(add):
    add("file", type=Path)
    add("output", type=Path)
    add("--time", type=float, nargs="+", metavar="S", help="time(s) of a picture; default: the end")
    add("--view", choices=("iso", "x", "y", "z"))
    add("--color", help="what colours the beams: 'bending moment', 'normal force', …")
    add("--fps", type=float, default=25.0)
    add("--speed", type=float, help="seconds of motion per second of film")


def _export_arguments(add):
    add("file", type=Path)
    add("what", nargs="*", help="histories for --format csv")
    add("--format", default="pvd", help="pvd (a series); vtu, vtk, stl, ply, … (one time); csv")
    add("-o", "--output", type=Path, help="default: in the folder of the results file")
    add("--time", type=float, metavar="S", help="time of a single frame; default: the end")
    add("--frames", type=int, help="largest number of frames of a series")


def _processes(text):
    """Number of processes, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of processes: give 1 or more")
    return int(text)


def _validate_arguments(add):
    add("case", nargs="*", help="names of cases; default: all")
    add("--list", action="store_true", dest="show", help="show the cases, run nothing")
    add("--method", nargs="+", default=[], metavar="NAME", help="with these time steppers only")
    add("--fast", action="store_true", help="leave out what takes more than some seconds")
    add("--jobs", type=_processes, default=1, metavar="N", help="processes that run cases at the same time; default: 1")
    add("--json", type=Path, metavar="FILE", help="write every check to a file")
    add("--plot", action="store_true", help="draw the figures of the cases, as in their sources: NAME.png")


def _tangents_arguments(add):
    add("element", nargs="*", help="element types; default: all")


def _warmup_arguments(add):
    add("--all", action="store_true", help="every time stepper and type of element: some minutes")


def _version():
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("fem_mbs")
    except PackageNotFoundError:
        return "unknown"


# --- commands ---------------------------------------------------------------------------------------------------------


def run_script(options: Namespace) -> int:
    """``fem-mbs run``."""
    from fem_mbs.checks import Check, Checks
    from fem_mbs.runtime import overrides

    overrides.reset()
    for name in ("t_end", "h"):
        value = getattr(options, name)
        if value is not None and not value > 0:
            raise ScriptError(f"--{name.replace('_', '-')} {value:g}: must be > 0 s")
    overrides.t_end, overrides.h, overrides.out = options.t_end, options.h, options.out
    overrides.progress = False if options.quiet else None
    try:
        outcome = Script(options.script).run(dict(_assignment(text) for text in options.set))
    finally:
        overrides.reset()
    if isinstance(outcome, Check):
        outcome = Checks(outcome)
    if isinstance(outcome, Checks):
        print(outcome)
        return 0 if outcome.ok else 1
    if hasattr(outcome, "report"):
        print(outcome.report())
    return 0


def resume_run(options: Namespace) -> None:
    """``fem-mbs resume``."""
    from fem_mbs.solvers.stepping.saved.resume import resume

    print(resume(options.file, options.t_end, progress=False if options.quiet else None).report())


def _assignment(text):
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ScriptError(f"--set {text}: must read NAME=VALUE")
    return name.strip(), value.strip()


class Script:
    """A model script whose top-level assignments can be changed before it runs.

    Parameters
    ----------
    path : path of a Python file

    Attributes
    ----------
    names : dict, name -> the nodes of the syntax tree that hold its value
    main : the syntax tree of ``def main`` if it can be called without arguments, else None
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise ScriptError(f"script {path} cannot be read: {error.strerror}") from None
        try:
            self.tree = ast.parse(text, filename=str(path))
        except SyntaxError as error:
            raise ScriptError(f"script {path}, line {error.lineno}: {error.msg}") from None
        self.names, self.main = {}, None
        for statement in self.tree.body:
            self._look_at(statement)

    def _look_at(self, statement):
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    self.names.setdefault(target.id, []).append((statement, "value", None))
                elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                    for i, part in enumerate(target.elts):
                        if isinstance(part, ast.Name) and len(target.elts) == len(statement.value.elts):
                            self.names.setdefault(part.id, []).append((statement.value, "elts", i))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            self.names.setdefault(statement.target.id, []).append((statement, "value", None))
        elif isinstance(statement, ast.FunctionDef) and statement.name == "main":
            arguments = statement.args
            missing = len(arguments.args) + len(arguments.posonlyargs) - len(arguments.defaults)
            if missing == 0 and all(default is not None for default in arguments.kw_defaults):
                self.main = statement

    @property
    def options(self) -> list[str]:
        """Names of the arguments of ``main``."""
        return [a.arg for a in (*self.main.args.args, *self.main.args.kwonlyargs)] if self.main else []

    def change(self, name: str, text: str) -> None:
        """Replace the value assigned to a name by an expression, or by a text where the script has one."""
        for owner, field, i in self.names[name]:
            old = getattr(owner, field) if i is None else getattr(owner, field)[i]
            new = ast.copy_location(
                _expression(text, isinstance(old, ast.Constant) and isinstance(old.value, str)), old
            )
            if i is None:
                setattr(owner, field, new)
            else:
                getattr(owner, field)[i] = new

    def run(self, settings: dict[str, str]) -> Any:
        """Run the script with changed values (dict name -> text); returns what its ``main`` returns, or None.

        A script with a ``main`` that needs no arguments is loaded and its ``main`` called; any other runs as a program.
        """
        arguments = {}
        for name, text in settings.items():
            if name in self.names:
                self.change(name, text)
            elif name in self.options:
                arguments[name] = text
            else:
                known = ", ".join(dict.fromkeys([*self.names, *self.options])) or "nothing"
                raise ScriptError(f"--set {name}: script {self.path} has no such value; it has: {known}")
        ast.fix_missing_locations(self.tree)
        space = {"__name__": "__fem_mbs__" if self.main else "__main__", "__file__": str(self.path)}
        before = sys.argv, list(sys.path)
        sys.argv, sys.path = [str(self.path)], [str(self.path.resolve().parent), *sys.path]
        try:
            exec(compile(self.tree, str(self.path), "exec"), space)
            if not self.main:
                return None
            defaults = inspect.signature(space["main"]).parameters
            values = {
                name: _evaluate(text, isinstance(defaults[name].default, str), space)
                for name, text in arguments.items()
            }
            return space["main"](**values)
        finally:
            sys.argv, sys.path[:] = before[0], before[1]


def _expression(text, was_text):
    """Syntax tree of a value: a literal; else a text where one stood, else an expression in the names of the script."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        if was_text:
            return ast.Constant(text)
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ScriptError(f"--set: '{text}' is not a value") from None


def _evaluate(text, was_text, space):
    tree = ast.fix_missing_locations(ast.Expression(_expression(text, was_text)))
    return eval(compile(tree, "--set", "eval"), space)


def show_info(options: Namespace) -> None:
    """``fem-mbs info``."""
    from textwrap import fill

    from fem_mbs.results.results import Results

    result = Results.read(options.file)
    print(result.report())
    groups = {}  # names with the same histories together
    for name in result.names:
        units = result[name].units
        groups.setdefault(", ".join(f"{k} [{u}]" if u else k for k, u in units.items()), []).append(name)
    for histories, names in groups.items():
        more = f" and {len(names) - 20} more" if len(names) > 20 else ""
        print("\n" + fill(", ".join(names[:20]) + more, 100, subsequent_indent="  "))
        print(fill(histories, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False))


def make_plot(options: Namespace) -> None:
    """``fem-mbs plot``."""
    from fem_mbs.results.results import Results

    result = Results.read(options.file)
    result.plot(
        *options.what,
        component=options.component,
        save=options.output,
        show=options.output is None,
        title=options.title,
    )
    if options.output is not None:
        print(options.output)


def make_picture(options: Namespace) -> None:
    """``fem-mbs picture``."""
    from fem_mbs.results.results import Results

    result, look = Results.read(options.file), {"view": options.view, "color": options.color}
    if options.output.suffix.lower() in (".gif", ".webp", ".mp4"):
        result.animate(options.output, fps=options.fps, speed=options.speed, **look)
    else:
        result.picture(options.output, time=options.time, **look)
    print(options.output)


def make_export(options: Namespace) -> None:
    """``fem-mbs export``."""
    from fem_mbs.results import export
    from fem_mbs.results.results import Results

    result, form = Results.read(options.file), options.format.lower().lstrip(".")
    output = options.output or options.file.with_suffix(f".{form}")
    if output.suffix.lower() != f".{form}":
        output = output.with_name(f"{output.name}.{form}")
    if form == "csv":
        files = export.table(result, output, *options.what)
    else:
        files = export.export(result, output, time=options.time, frames=options.frames)
    print(f"{files[0]}" + (f" and {len(files) - 1} more" if len(files) > 1 else ""))


def validate_cases(options: Namespace) -> int:
    """``fem-mbs validate``."""
    from fem_mbs.cases import validate
    from fem_mbs.cases.registry import chosen, runs

    cases = chosen(options.case, options.fast)
    todo = runs(cases, options.method)
    if options.show:
        print(validate.listed([case for case in cases if not options.method or any(c is case for c, _ in todo)]))
        return 0
    if options.plot:
        from fem_mbs.cases.figures import pages

        pages.check(options.case)
    if not todo:
        raise ScriptError("nothing to run: none of these cases applies to these methods; see fem-mbs validate --list")
    outcomes = validate.run(todo, options.jobs)
    print(validate.report(outcomes))
    if options.json is not None:
        validate.write(outcomes, options.json)
    if options.plot:
        ran = dict.fromkeys(case.name for case, _ in todo)
        print("\n".join(pages.write([name for name in pages.drawable() if name in ran], Path(), options.method)))
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def check_tangents(options: Namespace) -> int:
    """``fem-mbs check-tangents``."""
    from fem_mbs.verify import check_tangents as check

    try:
        return 0 if check(options.element or None) else 1
    except KeyError as error:
        raise ScriptError(error.args[0]) from None


def show_solvers(_: Namespace) -> None:
    """``fem-mbs solvers``."""
    from fem_mbs.checks import table
    from fem_mbs.linear.solvers import available

    rows = [(name, "active" if found else "missing", note) for name, found, note in available()]
    print(table([("linear solver", "", ""), *rows], left=(0, 1, 2)))


def warm_up(options: Namespace) -> None:
    """``fem-mbs warmup``."""
    from fem_mbs import warmup

    warmup.warm_up(everything=options.all)


if __name__ == "__main__":
    sys.exit(main())
