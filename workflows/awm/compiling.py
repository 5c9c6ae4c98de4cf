"""How the loops are compiled, and the constants that they share.

Arrays are float32 (z, y, x), padded by two elements on each side. Element (k, j, i) of vx lies at
node (k, j, i + 1/2), of vy at (k, j + 1/2, i), of vz at (k - 1/2, j, i), of sxy at
(k, j + 1/2, i + 1/2), of sxz at (k - 1/2, j, i + 1/2), of syz at (k - 1/2, j + 1/2, i), normal
stresses at the node. Material has step / spacing in it (:mod:`.material`).

What makes a loop a loop of vectors: indices without a sign (numba checks signed ones for negative
values), few arrays in one loop (each pair of them is checked for overlap, once per row), and a
function of its own for each part of a step (docs/decisions/0057-awm-loops.md).
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from burstlens.core import loops
from burstlens.workflows.awm.limits import STENCIL

# The stencils touch some forty rows; below this many checks for overlap LLVM gives up vectors.
llvm.set_option("", "--runtime-memory-check-threshold=4000")

C1 = np.float32(STENCIL[0])
C2 = np.float32(STENCIL[1])
ONE, TWO = np.uint64(1), np.uint64(2)
FLUSHES = platform.machine() in ("x86_64", "AMD64")


def compiled(function: Callable[..., Any]) -> Any:
    """The function compiled at its first call; threads run it side by side."""
    return loops.compiled(function, fastmath=True)


def _sets_control_word(word: int) -> Any:
    """What loads a control word of floating point in the calling thread, from compiled code."""

    def typed(context: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if FLUSHES:
                held = builder.alloca(ir.IntType(32))
                builder.store(ir.Constant(ir.IntType(32), word), held)
                pointer = ir.IntType(8).as_pointer()
                load = builder.module.declare_intrinsic(
                    "llvm.x86.sse.ldmxcsr", (), ir.FunctionType(ir.VoidType(), [pointer])
                )
                builder.call(load, [builder.bitcast(held, pointer)])
            return context.get_dummy_value()

        return types.void(), emit

    return intrinsic(typed)


# Ahead of a wave the field falls through all denormal numbers, at a hundred cycles each: a loop
# takes them for zero, and leaves them to its caller again.
flush_denormals = _sets_control_word(0x9FC0)
keep_denormals = _sets_control_word(0x1F80)
