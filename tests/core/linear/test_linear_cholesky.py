"""Cholesky with a border: what is factorised how, and that the solution is that of the whole matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from measuring import Run

import fem_mbs as fem
from fem_mbs.linear.cholesky import PAUSE, CholeskyWithBorder
from fem_mbs.linear.solvers import cholesky_found

pytestmark = pytest.mark.skipif(not cholesky_found(), reason="scikit-sparse or UMFPACK is not installed")
SIDE = 9
CHOLESKY, LU = 1, 2


def grid(n=SIDE):
    """Symmetric, positive definite, n³ unknowns with 27 entries each."""
    line = sp.diags_array([np.ones(n - 1), 3.0 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    return sp.csc_array(sp.kron(sp.kron(line, line), line))


def with_rows(A, joints, open_contacts, rng):
    """The matrix with rows of constraints that have no diagonal, and rows of contacts that have nothing else."""
    n = A.shape[0]
    G = sp.csc_array(rng.normal(size=(joints, n)) * (rng.random((joints, n)) < 0.03))
    contact = sp.diags_array(-np.linspace(0.5, 2.0, open_contacts))
    return sp.csc_array(
        sp.block_array([[A, -G.T, None], [-G, 0.0 * sp.eye_array(joints), None], [None, None, contact]])
    )


class Case:
    """A solver of the pattern of some matrices together, and these."""

    def __init__(self, *matrices):
        self.matrices = [sp.csc_array(A) for A in matrices]
        pattern = sp.csc_array(sum(abs(A) for A in self.matrices) + sp.eye_array(self.matrices[0].shape[0]))
        pattern.sort_indices()
        self.solver = CholeskyWithBorder(
            pattern.shape[0], pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32)
        )

    def check(self, which=0, by=CHOLESKY, within=1e-11):
        """Factorise and solve one of the matrices."""
        A, solver = self.matrices[which], self.solver
        columns = np.repeat(np.arange(solver.n), np.diff(solver.pointers))
        assert solver.factor(np.ascontiguousarray(A.toarray()[solver.rows, columns]))
        assert solver.used[0] == by
        right = np.random.default_rng(7).normal(size=solver.n)
        found = solver.solve(right)
        assert np.abs(A @ found - right).max() < within * (1.0 + np.abs(found).max())
        assert solver.foreign_bytes() > 8 * A.shape[0]
        return found


def test_a_symmetric_matrix_has_no_border():
    case = Case(grid(), 2.0 * grid())
    first = case.check(0)
    assert case.check(1) == pytest.approx(0.5 * first, abs=1e-13)  # in the same arrays
    assert not case.solver.bordered.any()


def test_rows_of_joints_are_eliminated_and_open_contacts_are_divided_by_their_diagonal():
    case = Case(with_rows(grid(), 3, 50, np.random.default_rng(1)))
    case.check()
    assert case.solver.bordered.sum() == 53
    assert len(case.solver.active) == 3


def test_rows_that_are_not_symmetric_join_the_border_and_stay_in_it():
    one, turned = grid(), grid().tolil()
    turned[5, 6] += 0.3  # a gyroscopic term
    turned[6, 5] -= 0.3
    case = Case(one, turned)
    case.check(0)
    case.check(1)
    assert np.flatnonzero(case.solver.bordered).tolist() == [5, 6]
    case.check(0)
    assert np.flatnonzero(case.solver.bordered).tolist() == [5, 6]


def test_an_entry_without_a_transpose_in_the_pattern_is_not_symmetric():
    A = grid().tolil()
    A[0, SIDE**3 - 1] = 0.7
    case = Case(A)
    case.check()
    assert np.flatnonzero(case.solver.bordered).tolist() == [0, SIDE**3 - 1]


def test_round_off_is_symmetric_and_what_is_more_is_not():
    for size, bordered in ((1e-15, 0), (1e-11, SIDE**3)):
        rng = np.random.default_rng(2)
        noise = sp.csc_array(grid())
        noise.data *= 1.0 + size * rng.normal(size=len(noise.data))
        case = Case(noise)
        case.check(by=CHOLESKY if bordered == 0 else LU)


def test_a_wide_border_and_an_indefinite_matrix_are_left_to_lu_and_tried_again_later():
    rng = np.random.default_rng(3)
    wide = sp.csc_array(grid())
    wide.data *= 1.0 + 0.01 * rng.normal(size=len(wide.data))
    indefinite = grid() - 5.0 * sp.eye_array(SIDE**3)
    for bad in (wide, indefinite):
        case = Case(grid(), bad)
        case.check(0)
        case.check(1, LU)
        for _ in range(PAUSE):
            case.check(0, LU)
        case.check(0, CHOLESKY)
        assert not case.solver.bordered.any()


def test_a_matrix_that_only_its_constraints_make_regular_is_left_to_lu():
    """Two unknowns of equal rows, but for round-off: Cholesky's pivot is positive, and has no digit that is right."""
    n = SIDE**3
    joint = sp.csc_array(([1.0], ([0], [n])), shape=(1, n + 2))
    for apart, by in ((2.0**-51, LU), (0.01, CHOLESKY)):
        A = sp.block_diag([grid(), [[1.0, 1.0], [1.0, 1.0 + apart]]])
        case = Case(sp.block_array([[A, -joint.T], [-joint, None]]))
        case.check(by=by)


def test_factors_by_either_library_are_made_again_with_the_same_bits():
    indefinite = grid() - 5.0 * sp.eye_array(SIDE**3)
    for order in ((0,), (0, 1), (0, 1, 0), (0, 1, *[0] * (PAUSE + 1)), (1, *[0] * PAUSE)):
        case, again = Case(grid(), indefinite), Case(grid(), indefinite)
        for which in order:
            found = case.check(which, LU if which == 1 or case.solver.pause[0] > 0 else CHOLESKY)
        again.solver.set_state(case.solver.get_state())
        right = np.random.default_rng(7).normal(size=SIDE**3)
        assert again.solver.solve(right).tobytes() == found.tobytes()
        assert again.solver.pause[0] == case.solver.pause[0]
        assert again.solver.used[0] == case.solver.used[0]


def sliding(law, friction, cells=8, feet=0.6):
    """A block that falls on a floor, slides on it and draws a spinning rod on a hinge."""
    model = fem.Model("block", gravity=[0, 0, -9.81])
    mesh = fem.block_mesh([0.5, 0.5, 0.5], [cells] * 3, cell="hexahedron")
    mesh = mesh.with_group("feet", lambda x: (x[:, 2] < 1e-9) & (x[:, 0] < feet) & (x[:, 1] < feet))
    mesh = mesh.with_group("end", lambda x: (x[:, 0] > 0.4999) & (x[:, 1] < 0.09) & (x[:, 2] < 0.09))
    start = {"position": [0, 0, 1e-4], "velocity": [1.0, 0.2, -0.5]}
    body = fem.SolidBody(mesh, fem.SolidMaterial(2e6, 0.3, 1e3, law=law), **start, name="block")
    spin = {"velocity": [1.0, 0.2, -0.5], "angular_velocity": [9.0, 0, 0]}
    rod = fem.RigidBody.box(20.0, [0.3, 0.1, 0.2], position=[0.7, 0.25, 0.25], **spin, name="rod")
    end = fem.SurfaceCoupling(body, "end", weights="equal", name="end")
    model.add(body, rod, end, fem.Revolute.at(end.node, rod, [0.5, 0.25, 0.25], [1, 0, 0]))
    model.add(fem.SurfaceContacts(body, "feet", model.ground, friction=friction, name="floor"))
    return model


@pytest.mark.parametrize(
    "law, friction", [pytest.param("st-venant-kirchhoff", 0.0, marks=pytest.mark.slow), ("neo-hookean", 0.3)]
)
def test_blocks_on_floors_move_the_same_whatever_factorises_them(law, friction):
    ends, forces = [], []
    for name in ("cholmod", "umfpack"):
        result = fem.DecoupledNSGA(rtol=1e-10).run(
            sliding(law, friction, cells=6).compile(linear_solver=name, project=True), t_end=5e-3, h=5e-4
        )
        ends.append(result.state(-1).x)
        forces.append(result.state(-1).V[:, :3])
        assert result["floor 0"].force_normal.max() > 0.0
    assert np.abs(ends[0] - ends[1]).max() < 1e-11  # m, of 0.5
    assert np.abs(forces[0] - forces[1]).max() < 1e-7  # m/s: round-off over the mass of a node and h


def test_a_step_of_a_block_on_a_floor_takes_cholesky_factors():
    run = Run(fem.DecoupledNSGA(), sliding("neo-hookean", 0.3, 11, feet=0.06).compile(project=True), 5e-4)
    run.go(4)
    solvers = [layout.solver for layout in run.engine.matrices.layouts]
    assert {type(solver) for solver in solvers} == {CholeskyWithBorder}
    assert all(solver.used[0] == CHOLESKY for solver in solvers)
    rows = [int(solver.bordered.sum()) for solver in solvers]
    # rows of joints and contacts have no positive diagonal; the rod's turning and sliding nodes are not symmetric
    system = run.engine.system
    assert system.m <= rows[0] <= system.m + 3 + 6
    assert system.m + 3 * 4 <= rows[1] <= system.m + 3 + 6 + 3 * 4 + 4
