"""How kernels become machine code: each is translated to LLVM code once, and optimised once with all that it calls.

numba makes a library of machine code of every kernel: it links all that the kernel calls into it, optimises that whole,
translates it and writes it to disk, and does so again for what calls it, level by level. Here a kernel that others call
is a `Part`: LLVM code as it was lowered, with the list of what it calls. What is called from outside, from Python or by
address, is a `Program`: it links its parts, those of its parts and so on, and is optimised and translated as one.

Everything is in classes, which kernels cannot see: `LAYOUT` is part of the key of compiled code, raise it when code
kept by an older version must not be used.
"""

import functools
import gc
import inspect
import operator
from collections.abc import Callable
from typing import Any

from llvmlite.binding import create_pass_builder, create_pipeline_tuning_options, parse_assembly
from numba import carray
from numba.core import analysis, cgutils, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import AnnotateTypes, NativeLowering, NopythonRewrites, NopythonTypeInference
from numba.core.untyped_passes import InlineClosureLikes
from numba.np import arrayobj

from fem_mbs.compiled.code_cache import CacheByContent
from fem_mbs.compiled.compiler_quick import Garbage, NoAnnotations, Quick
from fem_mbs.compiled.telling import TELLING

LAYOUT = 8


Quick.take()


class Part(JITCodeLibrary):
    """LLVM code of a kernel that other kernels call, neither optimised nor translated."""

    borrows = False  # arrays that it returns have no owner
    has_vectors = apart = False  # see `Loops`

    def add_llvm_module(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        # what several programs take in is simplified once, which leaves them a third less to do
        passes, builder = self._codegen._function_pass_manager(opt=1)
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
                if self.apart:
                    function.add_function_attribute("noinline")
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self):
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"  # several parts of a program may bring the same function
            self._shared_module = self._final_module
        return self._shared_module


class Program(JITCodeLibrary):
    """Machine code of a function that is called from outside, with all the parts it needs."""

    borrows = False  # neither it nor its parts count owners of arrays
    short_loops = has_vectors = False  # see `Loops`

    def add_llvm_module(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        needed, todo = {}, list(reversed(self._linking_libraries))
        while todo:
            library = todo.pop()
            if library not in needed:
                needed[library] = None
                if isinstance(library, Part):
                    todo += reversed(library._linking_libraries)
        self._linking_libraries = list(needed)
        self.borrows = self.borrows and all(library.borrows for library in needed if isinstance(library, Part))
        self.has_vectors = any(library.has_vectors for library in needed if isinstance(library, Part))
        super().finalize()

    def _optimize_final_module(self):
        if not self.borrows:
            return super()._optimize_final_module()
        # Nobody else calls the parts that are in here: LLVM may fit them to their calls, with sizes of arrays that are
        # constants and without what nobody reads. "internal" ones would keep their names, under which the loader of
        # code finds those of other programs, fitted to other calls.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "private"
        # numba inlines before it optimises, to find pairs of counts of owners: here nobody counts
        options = create_pipeline_tuning_options(speed_level=3)
        options.slp_vectorization = self.has_vectors
        options.loop_unrolling = True
        options.loop_vectorization = options.loop_interleaving = not self.short_loops
        builder = create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """What is kept on disk: machine code, and the names in it. Nobody links a program into another."""
        self._ensure_finalized()
        module = self._final_module
        names = [f'define void @"{f.name}"() {{ ret void }}' for f in module.functions if not f.is_declaration]
        values = [g.name for g in module.global_variables if not g.is_declaration and "NumbaEnv" in g.name]
        names += [f'@"{name}" = common global i8* null' for name in values]
        return self.name, "object", (self._get_compiled_object(), parse_assembly("\n".join(names)).as_bitcode())


class Loops:
    """Which programs have short loops only: steps and assembly, which go over three and six numbers and call elements.

    To take several rounds of such loops at once makes a tenth more machine code and nothing faster. Loops of elements,
    linear solvers, contact groups and contact problems are worth it. Numbers are the same.

    Products of matrices that are called in a hundred places stay functions: each would be loops of vectors anew.

    Rows of matrices of solids have 8 to 20 numbers: loops over these are written out before they are made loops of
    vectors, and neighbouring instructions are put together afterwards instead: two to three times as fast. Tangents of
    beams take a sixth less time.
    """

    vectors = ("fem_mbs.elements.solids.kernels", "fem_mbs.elements.beams.three_pose_tangent")
    apart = ("fem_mbs.elements.superelements.products",)

    short = ("fem_mbs.solvers.", "fem_mbs.system.")
    long = ("fem_mbs.solvers.granular.", "fem_mbs.solvers.contact_problem.")

    @classmethod
    def have_vectors(cls, module: str) -> bool:
        """Whether the written-out loops of the kernels of a module are rows of numbers."""
        return module in cls.vectors

    @classmethod
    def are_apart(cls, module: str) -> bool:
        """True if the kernels of a module stay functions of the programs that call them."""
        return module in cls.apart

    @classmethod
    def are_short(cls, module: str) -> bool:
        """Whether the loops of the programs of a module are."""
        return module.startswith(cls.short) and not module.startswith(cls.long)


@register_pass(mutates_CFG=True, analysis_only=False)
class Typing(NopythonTypeInference):
    """Types of the variables of a kernel; what an operator makes of numbers and arrays is looked up once a process."""

    _name = "kernel_typing"
    known: dict = {}  # (built-in function, types of arguments) -> signature
    plain = (types.Number, types.Boolean, types.Array, types.BaseTuple)

    def run_pass(self, state: Any) -> bool:
        context = state.typingctx
        if "resolve_function_type" in vars(context):  # compiled for another kernel that is being typed
            return super().run_pass(state)
        context.resolve_function_type = functools.partial(self.resolve, context)
        try:
            return super().run_pass(state)
        finally:
            del context.resolve_function_type

    @classmethod
    def resolve(cls, context: Any, function: Any, args: Any, kws: Any) -> Any:
        args = tuple(args)
        meant = function if isinstance(function, types.Type) else context._lookup_global(function)
        if type(meant) is not types.Function or kws or not all(isinstance(a, cls.plain) for a in args):
            return type(context).resolve_function_type(context, function, args, kws)
        key = id(meant), args
        if key not in cls.known:
            cls.known[key] = meant, type(context).resolve_function_type(context, function, args, kws)
        return cls.known[key][1]


class Lean(Lower):
    """Lower a kernel to few instructions: most of what it does is to read and write single numbers of arrays.

    numba unpacks an array with all its sizes at each access, and keeps variables in memory until LLVM finds that they
    are not changed. Here an access takes what its place needs, and what is assigned once is a value.
    """

    def _find_singly_assigned_variable(self):
        super()._find_singly_assigned_variable()
        if self.generator_info or self._disable_sroa_like_opt or self.context.enable_nrt:
            return
        assigned, places = {}, {}
        for label, block in self.blocks.items():
            for statement in block.find_insts(ir.Assign):
                name = statement.target.name
                assigned[name] = assigned.get(name, 0) + 1
                places[name] = label
        once = {name for name, times in assigned.items() if times == 1}
        dominators = analysis.compute_cfg_from_blocks(self.blocks).dominators()
        for label, used in analysis.compute_use_defs(self.blocks).usemap.items():
            for name in used & once:
                place = places[name]
                if not (place < label and place in dominators[label]):
                    once.discard(name)
        self._singly_assigned_vars |= once

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if self.context.enable_nrt or name in self._singly_assigned_vars:
            return super().storevar(value, name, argidx)
        self._alloca_var(name, self.typeof(name))
        self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if self.context.enable_nrt:
            super().delvar(name)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        signature = self.fndesc.calltypes[expr]
        if op in (operator.pow, operator.ipow) or not all(isinstance(a, types.Number) for a in signature.args):
            return super().lower_binop(resty, expr, op)
        context, builder = self.context, self.builder
        sides = [
            context.cast(builder, self.loadvar(side.name), self.typeof(side.name), wanted)
            for side, wanted in zip((expr.lhs, expr.rhs), signature.args)
        ]
        function = context.typing_context.resolve_value_type(op)
        Typing.resolve(context.typing_context, function, signature.args, {})  # as typed in place it may be another
        result = context.get_function(function, signature)(builder, sides)
        return context.cast(builder, result, signature.return_type, resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        array = self.typeof(value.name)
        place = self._place(array, value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        item = arrayobj.load_item(self.context, self.builder, array, place)
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        array, given = self.typeof(target_var.name), self.typeof(value_var.name)
        place = self._place(array, target_var, index_var) if isinstance(given, (types.Number, types.Boolean)) else None
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        item = self.context.cast(self.builder, self.loadvar(value_var.name), given, array.dtype)
        return arrayobj.store_item(self.context, self.builder, array, item, place)

    def _place(self, array, value, index):
        """Address of the number of a C array that integers denote; None if this is not what is asked for."""
        context, builder = self.context, self.builder
        if not (isinstance(array, types.Array) and array.layout == "C" and isinstance(array.dtype, types.Number)):
            return None
        kinds = self.typeof(index.name)
        several = isinstance(kinds, types.BaseTuple)
        kinds = tuple(kinds) if several else (kinds,)
        if len(kinds) != array.ndim or not all(isinstance(kind, types.Integer) for kind in kinds):
            return None
        if context.enable_boundscheck:
            return None
        given = self.loadvar(index.name)
        given = cgutils.unpack_tuple(builder, given, len(kinds)) if several else [given]
        place, intp = None, context.get_value_type(types.intp)
        for axis, (kind, at) in enumerate(zip(kinds, given)):
            at = context.cast(builder, at, kind, types.intp)
            literal = kind.literal_value if isinstance(kind, types.IntegerLiteral) else getattr(at, "constant", None)
            if literal is not None:
                at = intp(literal)
            extent = None
            if axis or (kind.signed and (literal is None or literal < 0)):
                extent = self._field(array, value.name, "shape", axis)
            if kind.signed and (literal is None or literal < 0):
                negative = builder.icmp_signed("<", at, intp(0))
                at = builder.select(negative, builder.add(at, extent), at)
            place = at if axis == 0 else builder.add(builder.mul(place, extent), at)
        return builder.gep(self._field(array, value.name, "data"), [place])

    def _field(self, array, name, field, axis=None):
        """One field of an array that a variable holds."""
        position = self.context.data_model_manager[array].get_field_position(field)
        path = [position] if axis is None else [position, axis]
        if name in self._blk_local_varmap:
            return self.builder.extract_value(self._blk_local_varmap[name], path)
        return self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), 0, *path))


class _Lowering(NativeLowering):
    library_class: type

    @property
    def lowering_class(self) -> type:
        return Lean

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = self.library_class(state.targetctx.codegen(), name)
        state.library.enable_object_caching()
        state.library.short_loops = Loops.are_short(state.func_id.modname)
        state.library.apart = Loops.are_apart(state.func_id.modname)
        state.library.has_vectors = Loops.have_vectors(state.func_id.modname)
        # an array that goes to Python needs an owner
        for_kernels = self.library_class is Part or Borrowing.owns_nothing(state.return_type)
        state.library.borrows = for_kernels and Borrowing.only(state)
        if state.library.borrows:
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return super().run_pass(state)


class Borrowing:
    """Which kernels only borrow arrays: nobody need count who owns them.

    Their arrays are arguments, parts of these, or lie at addresses and on the stack. They return none that somebody
    could own: none at all, or only arrays at addresses.
    """

    values = (types.Number, types.Boolean, types.NoneType, types.Omitted, types.Record, types.RangeType)
    values += (types.RangeIteratorType, types.Callable, types.Module, types.Literal, types.Pair, types.UnicodeType)
    values += (types.RawPointer, types.DType, types.CPointer, types.NumberClass, types.SliceType)
    steps = ("getitem", "static_getitem", "getattr", "build_tuple", "cast", "exhaust_iter", "phi", "null", "undef")
    steps += ("getiter", "iternext", "pair_first", "pair_second")  # loops over the items of an array or a tuple

    @classmethod
    def owns_nothing(cls, kind: Any) -> bool:
        """Whether values of this type hold no array."""
        return all(map(cls.owns_nothing, kind)) if isinstance(kind, types.BaseTuple) else isinstance(kind, cls.values)

    @classmethod
    def may_be_borrowed(cls, kind: Any) -> bool:
        if isinstance(kind, types.BaseTuple):
            return all(map(cls.may_be_borrowed, kind))
        if isinstance(kind, types.UniTupleIter):
            return cls.may_be_borrowed(kind.container)
        return isinstance(kind, (types.Array, types.ArrayIterator, *cls.values))

    @classmethod
    def only(cls, state: Any) -> bool:
        """Whether no variable of the kernel can own memory."""
        if not (cls.owns_nothing(state.return_type) or all(map(cls.owns_nothing, state.args))):
            return False
        if not all(map(cls.may_be_borrowed, state.typemap.values())):
            return False
        for block in state.func_ir.blocks.values():
            for statement in block.find_insts((ir.SetItem, ir.StaticSetItem)):
                if not cls.owns_nothing(state.typemap[statement.value.name]):
                    return False  # a slice that is set from an array may overlap it, and is copied then
            for statement in block.find_insts(ir.Assign):
                value = statement.value
                if isinstance(value, ir.Expr) and not cls.owns_nothing(state.typemap[statement.target.name]):
                    if value.op not in cls.steps and not cls._at_address(state, value):
                        return False
        return True

    @classmethod
    def _at_address(cls, state, expr):
        """Whether an expression is a call of what makes arrays at addresses or on the stack."""
        if expr.op != "call":
            return False
        function = state.typemap[expr.func.name]
        if isinstance(function, types.Dispatcher):
            part = getattr(function.dispatcher, "part", None)
            return part is not None and part.overloads[state.calltypes[expr].args].library.borrows
        if isinstance(function, types.NamedTupleClass):
            return True  # holds what is checked by itself
        key = getattr(function, "typing_key", None)
        return getattr(key, "__module__", "") == "fem_mbs.jit" or key is carray


@register_pass(mutates_CFG=True, analysis_only=False)
class Rewrites(NopythonRewrites):
    """Rewrite expressions of whole arrays, which make new ones; where none is made there is nothing to rewrite."""

    _name = "kernel_rewrites"

    def run_pass(self, state: Any) -> bool:
        return False if Borrowing.only(state) else super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class Closures(InlineClosureLikes):
    """Inline functions within functions, where there are any."""

    _name = "kernel_closures"

    def run_pass(self, state: Any) -> bool:
        return any(hasattr(c, "co_code") for c in state.func_id.code.co_consts) and super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(_Lowering):
    """Lower a kernel into a part; callers find it by the key that stands for its compiled function."""

    _name = "part_lowering"
    library_class = Part

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        lowered = state.cr
        key = f"part {lowered.fndesc.llvm_func_name}"
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state.cr = lowered._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class ProgramLowering(_Lowering):
    """Lower a function into a program."""

    _name = "program_lowering"
    library_class = Program


class KnownFlags(Flags):
    """Options of a compilation, one object for all that have the same: numba looks them up at every operator."""

    known: dict = {}

    @classmethod
    def of(cls, flags: Flags) -> "KnownFlags":
        values = hash(flags), str(flags)
        if values not in cls.known:
            cls.known[values] = cls(flags)
            cls.known[values]._number = len(cls.known)
        return cls.known[values]

    def copy(self) -> "KnownFlags":
        return self

    def __hash__(self):
        return self._number

    def __eq__(self, other):
        return self is other


class _Compiler(CompilerBase):
    lowering: type

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Flags, locals: Any
    ) -> None:
        super().__init__(typingctx, targetctx, library, args, return_type, KnownFlags.of(flags), locals)

    def define_pipelines(self) -> list:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        other = {
            NativeLowering: self.lowering,
            NopythonTypeInference: Typing,
            NopythonRewrites: Rewrites,
            InlineClosureLikes: Closures,
            AnnotateTypes: NoAnnotations,
        }
        passes.passes = [(other.get(step, step), words) for step, words in passes.passes]
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    lowering = PartLowering

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Flags, locals: Any
    ) -> None:
        flags.no_compile = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class ProgramCompiler(_Compiler):
    lowering = ProgramLowering

    def compile_extra(self, func: Callable) -> Any:
        # nearly all that a compilation makes lives until it ends: to search it for garbage took an eighth of the time
        running = gc.isenabled()
        gc.disable()
        TELLING.starts(func)
        try:
            return super().compile_extra(func)
        finally:
            TELLING.ends()
            if running:
                Garbage.collect()
                gc.enable()


class PartDispatcher(CPUDispatcher):
    """The parts of a kernel, one for each combination of types."""

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres  # never called from Python


class Kernel(CPUDispatcher):
    """What `fem_mbs.jit.kernel` makes of a function: a program for each call from Python, a part for other kernels."""

    def __init__(
        self,
        py_func: Callable,
        locals: dict | None = None,
        targetoptions: dict | None = None,
        pipeline_class: type = ProgramCompiler,
    ) -> None:
        self.cache_made = False
        py_func.__signature__ = inspect.signature(py_func)  # type: ignore[attr-defined]  # numba asks for it twice
        super().__init__(py_func, locals or {}, targetoptions or {}, pipeline_class)

    @functools.cached_property
    def part(self) -> PartDispatcher:
        """The parts for other kernels; programs that are loaded need none."""
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        return PartDispatcher(self.py_func, self.locals, options, PartCompiler)

    def compile(self, sig: Any) -> Any:
        """Compile or load a program. Most kernels are parts of programs, and never need a place in the cache."""
        if not self.cache_made:
            self.cache_made = True
            with CacheByContent():
                self.enable_caching()
        return super().compile(sig)

    def get_call_template(self, args: Any, kws: dict) -> Any:
        # numba would compile a callee anew for every combination of literal numbers in its calls
        args, kws = [types.unliteral(a) for a in args], {name: types.unliteral(a) for name, a in kws.items()}
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.part.get_overload(sig)

    @property
    def is_compiling(self) -> bool:
        return ("part" in vars(self) and self.part.is_compiling) or super().is_compiling
