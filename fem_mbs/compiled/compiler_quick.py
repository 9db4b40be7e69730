"""Inner parts of numba that took a fifth of a compilation, answered in fewer steps; see `fem_mbs.compiled.compiler`.

As there, everything is in classes, which kernels cannot see.
"""

import gc
from typing import Any

from numba.core import ir, transforms, types
from numba.core.compiler_machinery import register_pass
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.typed_passes import AnnotateTypes


class Quick:
    """Inner parts of numba that took a tenth of a compilation: the same answers, found in fewer steps."""

    names = (str, int, float, bool, type(None), ir.Loc)
    shown: dict = {}
    of_record = types.Record.__repr__
    of_pass = PostProcessor.run

    @classmethod
    def list_vars(cls, statement: ir.Inst, value: Any) -> list:
        """Variables in a part of a statement; numba asks an abstract class of each part what it is."""
        kind = type(value)
        if kind is ir.Var:
            return [value]
        if kind in cls.names:
            return []
        if kind is dict:
            value = value.values()
        elif kind not in (list, tuple):
            return value.list_vars() if isinstance(value, ir.Inst) else []
        found = []
        for part in value:
            if type(part) is ir.Var:
                found.append(part)
            elif type(part) not in cls.names:
                found += cls.list_vars(statement, part)
        return found

    @classmethod
    def show_record(cls, kind: types.Record) -> str:
        """Text of a record type; numba asks for it at each pass, and ours have some hundred fields."""
        if kind not in cls.shown:
            cls.shown[kind] = cls.of_record(kind)
        return cls.shown[kind]

    @classmethod
    def process(cls, processor: PostProcessor, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        """What numba does after a pass. Lives of variables are found where they are asked for, before lowering."""
        function = processor.func_ir
        if emit_dels or function.is_generator:
            cls.of_pass(processor, emit_dels, extend_lifetimes)
            return
        function.blocks = transforms.canonicalize_cfg(function.blocks)
        function.variable_lifetime = VariableLifetime(function.blocks)
        function.generator_info = None

    @classmethod
    def take(cls) -> None:
        parts: list[Any] = [ir.Inst, types.Record, PostProcessor]
        statement, record, processor = parts
        statement._rec_list_vars = lambda statement, value: cls.list_vars(statement, value)
        record.__repr__ = lambda kind: cls.show_record(kind)
        processor.run = lambda *given, **options: cls.process(*given, **options)


@register_pass(mutates_CFG=False, analysis_only=True)
class NoAnnotations(AnnotateTypes):
    """Keep no text of the types of all variables: it would keep all that typing found, and go into every file."""

    _name = "kernel_annotations"

    def run_pass(self, state: Any) -> bool:
        return False


class Garbage:
    """Searches for garbage between compilations: some, where Python would look at all that each one has made."""

    OFTEN = 96  # compilations, each of which leaves some 6 MB: a first run of a model ends before
    compiled = 0

    @classmethod
    def collect(cls) -> None:
        """Note a compilation that has ended."""
        cls.compiled += 1
        if cls.compiled % cls.OFTEN == 0:
            gc.collect()
        elif gc.get_freeze_count() == 0:
            gc.freeze()  # the two together make objects old without a look at them
            gc.unfreeze()
