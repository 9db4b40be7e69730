"""Values of parameters in the form that is computed with: numbers, flags, texts, arrays, rotations, frames, functions.

Everything is in a class, which kernels cannot see: a change here compiles nothing anew.
"""

import inspect
import math
import numbers
from os import PathLike
from typing import Any

import numpy as np

from fem_mbs.errors import ParameterError

_SMALLEST, _LARGEST = 1e-50, 1e50  # of values in computations: sixth powers (sections) stay within the range of floats
_LARGEST_INTEGER = 10**9
_PLAIN = frozenset((float, int, np.float64))  # types of numbers; a flag is none
_FLOAT, _EYE = np.dtype(float), np.eye(3)


class Values:
    """Methods that take (parameter, value) and return the value as it is computed with.

    Invalid values raise a `ParameterError` that names the owner, the parameter, the value and what is allowed.
    Methods call each other through the class, so that they serve any owner: ``Values.number(owner, …)``.
    """

    def check(self, condition: Any, parameter: str, value: Any, message: str) -> None:
        """Raise a ParameterError in the name of this part unless the condition holds."""
        if not condition:
            raise ParameterError(self, parameter, value, message)

    def number(
        self,
        parameter: str,
        value: Any,
        unit: str = "",
        *,
        above: Any = None,
        at_least: Any = None,
        below: Any = None,
        at_most: Any = None,
    ) -> float:
        """The value as a finite float within bounds.

        Numbers of Python and NumPy are taken, 0-d arrays too; flags, text, complex and arrays are not.
        """
        if type(value) is not float:
            value = Values._real_number(self, parameter, value, unit)
        fits = (above is None or value > above) and (at_least is None or value >= at_least)
        fits = fits and (below is None or value < below) and (at_most is None or value <= at_most)
        if fits and -_LARGEST <= value <= _LARGEST and (above != 0 or value >= _SMALLEST):
            return value
        bounds = ((">", above), ("≥", at_least), ("<", below), ("≤", at_most))
        given = [(sign, bound) for sign, bound in bounds if bound is not None]
        if len(given) == 2:
            allowed = f"between {given[0][1]:g} and {given[1][1]:g}"
        else:
            allowed = "".join(f"{sign} {bound:g}" for sign, bound in given)
        if not np.isfinite(value):
            message = f"must be finite{allowed and ' and '}{allowed}"
        elif not fits:
            message = f"must be {allowed}"
        else:
            message = f"is too {'large' if abs(value) > _LARGEST else 'small'} to be computed with"
        raise ParameterError(self, parameter, value, f"{unit} {message}".strip())

    def _real_number(self, parameter, value, unit):
        """The value as a float, perhaps infinite."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            quoted = isinstance(value, str) and value.replace(".", "").isdigit()
            message = "is not a number" + ("; it is text: leave the quotation marks out" if quoted else "")
            raise ParameterError(self, parameter, value, message)
        try:
            return float(value)
        except OverflowError:
            raise ParameterError(self, parameter, value, f"{unit} is too large".strip()) from None

    def positive(self, parameter: str, value: Any, unit: str = "", allow_zero: bool = False) -> float:
        """The value as a float > 0 (or ≥ 0)."""
        if allow_zero:
            return Values.number(self, parameter, value, unit, at_least=0)
        return Values.number(self, parameter, value, unit, above=0)

    def as_integer(self, parameter: str, value: Any, at_least: int = 1) -> int:
        """The value as a whole number; 3.0 is one."""
        message = f"must be a whole number ≥ {at_least}"
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        whole = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
        if not (whole and at_least <= value <= _LARGEST_INTEGER and value == int(value)):
            raise ParameterError(self, parameter, value, message)
        return int(value)

    def as_teeth(self, parameter: str, value: Any) -> np.ndarray:
        """Two numbers of teeth (2,), whole and positive."""
        teeth = Values.as_array(self, parameter, value, (2,))
        if not ((teeth > 0) & (teeth == np.round(teeth))).all():
            raise ParameterError(
                self, parameter, value, "must be two whole numbers > 0; a ratio that is none of teeth is given by radii"
            )
        return teeth

    def as_flag(self, parameter: str, value: Any) -> bool:
        """The value as True or False."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, numbers.Real) and value in (0, 1)):
            raise ParameterError(self, parameter, value, "must be True or False")
        return bool(value)

    def as_text(self, parameter: str, value: Any, optional: bool = False) -> Any:
        """The value if it is text."""
        if not (isinstance(value, str) or (optional and value is None)):
            raise ParameterError(self, parameter, value, "must be text")
        return value

    def as_choice(self, parameter: str, value: Any, allowed: Any, message: str | None = None) -> Any:
        """The value if it is one of a few."""
        for one in allowed:
            if value is one or (isinstance(value, str) and value == one):
                return one
        raise ParameterError(self, parameter, value, message or f"must be one of {', '.join(map(repr, allowed))}")

    def as_array(self, parameter: str, value: Any, *shapes: tuple, unit: str = "", finite: bool = True) -> np.ndarray:
        """The value as an array of floats; ``shapes``: those allowed, with None for any length; none given: all."""
        array: Any = value
        if type(value) is not np.ndarray or value.dtype is not _FLOAT:
            array = Values._array_of_numbers(value)
        if array is None or (shapes and array.shape not in shapes):
            wanted = " or ".join(str(tuple("n" if k is None else k for k in s)).replace("'", "") for s in shapes)
            if array is None:
                raise ParameterError(self, parameter, value, f"is not an array {wanted} of numbers".replace("  ", " "))
            fits = [len(s) == array.ndim and all(k in (None, n) for k, n in zip(s, array.shape)) for s in shapes]
            if not any(fits):
                raise ParameterError(self, parameter, value, f"has shape {array.shape}, must be {wanted}")
        array = np.array(array, float)
        if finite and not (np.abs(array) <= _LARGEST).all():
            if np.isfinite(array).all():
                message = "has components too large to be computed with"
            else:
                message = "must be finite" if array.ndim == 0 else "has components that are not finite"
            raise ParameterError(self, parameter, value, f"{unit} {message}".strip())
        return array

    @staticmethod
    def _array_of_numbers(value):
        """The value as an array of whole or real numbers; None where it is none."""
        try:
            array: Any = np.asarray(value)
            if array.dtype.kind == "O":
                good = array.size and all(
                    isinstance(v, numbers.Real) and not isinstance(v, (bool, np.bool_)) for v in array.ravel()
                )
                return array.astype(float) if good else None
            return array if array.dtype.kind in "iuf" else None
        except (TypeError, ValueError, OverflowError):
            return None

    def broadcast(self, **values: Any) -> tuple:
        """Arrays of numbers that fit each other, by parameter."""
        arrays = [Values.as_array(self, parameter, value) for parameter, value in values.items()]
        try:
            return np.broadcast_arrays(*arrays)
        except ValueError:
            shapes = ", ".join(f"{parameter} {array.shape}" for parameter, array in zip(values, arrays))
            parameter = list(values)[-1]
            raise ParameterError(self, parameter, values[parameter], f"does not fit the others: {shapes}") from None

    def as_vector(self, parameter: str, value: Any, n: int = 3) -> np.ndarray:
        """The value as a float array (n,); a row or column of a matrix is accepted."""
        if (array := Values._short_vector(value, n)) is not None:
            return array
        try:
            array = Values.as_array(self, parameter, value)
        except ParameterError as error:
            if "of numbers" in error.reason:
                raise ParameterError(self, parameter, value, f"is not a vector of {n} numbers") from None
            raise
        if array.size != n:
            raise ParameterError(self, parameter, value, f"has {array.size} components, must have {n}")
        return array.reshape(n)

    @staticmethod
    def _short_vector(value, n):
        """A copy of a list or an array of n numbers in range; None of what has to be looked at more closely."""
        kind = type(value)
        if kind is np.ndarray and value.dtype is _FLOAT and value.shape == (n,):
            numbers_of = value.tolist()
        elif (kind is list or kind is tuple) and len(value) == n:
            numbers_of = value
        else:
            return None
        for number in numbers_of:
            if type(number) not in _PLAIN or not -_LARGEST <= number <= _LARGEST:
                return None
        return np.array(value, _FLOAT)

    def as_lengths(self, parameter: str, value: Any, n: int = 3) -> np.ndarray:
        """The value as edge lengths (n,) > 0 [m]."""
        array = Values.as_vector(self, parameter, value, n)
        if not min(array.tolist()) > _SMALLEST:
            words = {2: "both", 3: "all three"}
            raise ParameterError(self, parameter, array, f"m must be > 0 in {words[n]} directions")
        return array

    def unit_vector(self, parameter: str, value: Any) -> np.ndarray:
        """The value as a unit vector (3,): a length far from 1 is taken for a mistake."""
        vector = Values.as_vector(self, parameter, value)
        length = math.sqrt(vector.dot(vector))
        if not abs(length - 1.0) < 1e-6:
            message = (
                f"has length {length:.6g}, must be a unit vector (divide it by its length; a zero vector has no "
                "direction)"
            )
            raise ParameterError(self, parameter, vector, message)
        return vector / length

    def as_rotation(self, parameter: str, value: Any) -> np.ndarray:
        """The value (matrix, rotation vector, quaternion, None) as a rotation matrix (3, 3)."""
        if value is None:
            return _EYE.copy()
        from fem_mbs.rotations import as_matrix

        if type(value) is np.ndarray and value.shape == (3, 3) and value.dtype is _FLOAT:
            try:
                return as_matrix(value)
            except ValueError:  # it may be infinite, too
                pass
        array = Values.as_array(self, parameter, value, (3, 3), (3,), (4,))
        if array.shape == (3,) and np.linalg.norm(array) > 2.0 * np.pi * (1.0 + 1e-9):
            message = (
                "rad is more than one full rotation. Is it in degrees? Rotation vectors are in radians: "
                f"rotation=np.radians({np.round(array, 9).tolist()})"
            )
            raise ParameterError(self, parameter, value, message)
        try:
            return as_matrix(array)
        except ValueError as error:
            raise ParameterError(self, parameter, value, f"is not a rotation: {error}") from None

    def as_frame(self, parameter: str, value: Any) -> Any:
        """The value as a `Frame`: a frame, a node, or a body with one node."""
        if callable(getattr(value, "frame", None)) and not isinstance(value, type):
            return value.frame()
        hint = f"; make one: {value.__name__}(…)" if isinstance(value, type) else ""
        if isinstance(value, str):
            hint = "; it is text: give the object itself, such as model.ground or model['name of a body']"
        raise ParameterError(self, parameter, value, f"is not a frame, a node or a body{hint}")

    def as_node(self, parameter: str, value: Any) -> Any:
        """The node of a value that `as_frame` takes."""
        node = None if isinstance(value, type) or not hasattr(value, "frame") else getattr(value, "node", None)
        return Values.as_frame(self, parameter, value).node if node is None else node

    def as_instance(self, parameter: str, value: Any, kind: Any, what: str | None = None) -> Any:
        """The value if it is of a type (or one of several)."""
        if not isinstance(value, kind):
            raise ParameterError(self, parameter, value, f"must be {what or 'a ' + kind.__name__}")
        return value

    def as_motion(self, parameter: str, value: Any) -> Any:
        """Return the value as an argument of `Signal`: a signal, a number, or a function of time."""
        if callable(value):
            return Values.as_function(self, parameter, value, "a function of time t", 1)
        try:
            return Values.number(self, parameter, value)
        except ParameterError as error:
            message = "must be a number or a function of time" if "not a number" in error.reason else error.reason
            if getattr(value, "role", None) == "controller":
                message += "; of a controller give an output: controller.output(…)"
            raise ParameterError(self, parameter, value, message) from None

    def as_path(self, parameter: str, value: Any) -> Any:
        """The value if it is the path of a file, or None."""
        if value is not None and not (isinstance(value, (str, PathLike)) and str(value)):
            raise ParameterError(self, parameter, value, "must be the path of a file")
        return value

    def as_function(self, parameter: str, value: Any, what: str = "a function", arguments: int | None = None) -> Any:
        """The value if it can be called, with a number of arguments if that is given."""
        if not callable(value) or isinstance(value, type):
            raise ParameterError(self, parameter, value, f"cannot be called; give {what}")
        if arguments is not None:
            try:
                inspect.signature(value).bind(*range(arguments))
            except TypeError as error:
                raise ParameterError(self, parameter, value, f"must be {what}: {error}") from None
            except ValueError:  # functions written in C have no signature
                pass
        return value
