"""Small mesh files as text, as other programs write them: numbers of nodes of Gmsh's own order."""

# one hexahedron of 20 nodes, 2 x 1 x 1, with its left and right faces: MSH 2.2 as Gmsh writes it
GMSH_EDGES = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)]


def hexa20_msh22():
    corners = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (2, 0), (2, 1), (0, 1))]
    points = [*corners, *(tuple((corners[a][i] + corners[b][i]) / 2 for i in range(3)) for a, b in GMSH_EDGES)]

    def face(rim):
        middles = [
            next(8 + k for k, e in enumerate(GMSH_EDGES) if set(e) == {a, b}) for a, b in zip(rim, rim[1:] + rim[:1])
        ]
        return [1 + n for n in (*rim, *middles)]

    elements = [
        (16, 2, face([0, 4, 7, 3])), (16, 3, face([1, 2, 6, 5])), (17, 1, list(range(1, 21))),
    ]  # fmt: skip
    lines = [
        "$MeshFormat",
        "2.2 0 8",
        "$EndMeshFormat",
        "$PhysicalNames",
        "3",
        '2 2 "left"',
        '2 3 "right"',
        '3 1 "body"',
    ]
    lines += ["$EndPhysicalNames", "$Nodes", str(len(points))]
    lines += [f"{k} {x} {y} {z}" for k, (x, y, z) in enumerate(points, 1)]
    lines += ["$EndNodes", "$Elements", str(len(elements))]
    lines += [f"{k} {kind} 2 {tag} {tag} " + " ".join(map(str, row)) for k, (kind, tag, row) in enumerate(elements, 1)]
    return "\n".join([*lines, "$EndElements", ""])


# two tetrahedra, a plane and an orphan in MSH 4.1
TETRAS_MSH41 = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 7 "foot"
3 9 "part"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1000 1000 0 1 7 0
1 0 0 0 1000 1000 1000 1 9 0
$EndEntities
$Nodes
1 6 1 6
3 1 0 6
1
2
3
4
5
6
0 0 0
1000 0 0
0 1000 0
0 0 1000
1000 1000 1000
5000 0 0
$EndNodes
$Elements
2 3 1 3
2 1 2 1
1 1 3 2
3 1 4 2
2 1 2 3 4
3 2 5 3 4
$EndElements
"""

ABAQUS = """*Heading
*Node
1, 0.0, 0.0, 0.0
2, 1.0, 0.0, 0.0
3, 1.0, 1.0, 0.0
4, 0.0, 1.0, 0.0
5, 0.0, 0.0, 1.0
6, 1.0, 0.0, 1.0
7, 1.0, 1.0, 1.0
8, 0.0, 1.0, 1.0
*Element, type=C3D8, elset=brick
1, 1, 2, 3, 4, 5, 6, 7, 8
*Nset, nset=bottom
1, 2, 3, 4
"""


def abaqus_text(mesh, kind, element, below="", above="*HEADING\n** a comment\n"):
    """Input file of the cells of one type: points have labels from 11, elements from 1, five fields a line."""
    lines = [above + "*NODE, NSET=ALL"]
    lines += [f"{k}, {x[0]:.6g}, {x[1]:.6g}, {x[2]:.6g}" for k, x in enumerate(mesh.points, 11)]
    lines.append(f"*ELEMENT, TYPE={element}, ELSET=BODY")
    for e, row in enumerate(mesh.cells[kind], 1):
        fields = [str(k) for k in (e, *(row + 11))]
        lines += [", ".join(fields[i : i + 5]) + "," * (i + 5 < len(fields)) for i in range(0, len(fields), 5)]
    return "\n".join([*lines, below])


NASTRAN_ORDER = {"hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
                 "wedge15": [*range(9), *range(12, 15), *range(9, 12)]}  # fmt: skip


def nastran_text(mesh, kind, card, free=False, above="SOL 101\nCEND\nBEGIN BULK\n", large=False):
    """Bulk data of the cells of one type, properties 7 and 8 in turn, in free, large or small fields."""
    text = above
    for k, (x, y, z) in enumerate(mesh.points, 1):
        if free:
            text += f"GRID,{k},,{x:.4f},{y:.4f},{z:.4f}\n"
        elif large:
            text += f"GRID*   {k:16d}{'':16}{x:16.9f}{y:16.9f}\n*       {z:16.9f}\n"
        else:
            text += f"GRID    {k:8d}{'':8}{x:8.4f}{y:8.4f}{z:8.4f}\n"
    for e, row in enumerate(mesh.cells[kind]):
        row = row[NASTRAN_ORDER.get(kind, range(len(row)))] + 1
        fields = [str(k) for k in (e + 1, 7 + e % 2, *row)]
        rows = [fields[i : i + 8] for i in range(0, len(fields), 8)]
        if free:
            text += ",+\n+,".join(",".join(part) for part in [[card, *rows[0]], *rows[1:]]) + "\n"
        else:  # the continuation has no mark
            text += f"{card:8}" + ("\n" + 8 * " ").join("".join(f"{x:>8}" for x in part) for part in rows) + "\n"
    return text + "PSOLID  7       1\nSPC1    1       123     1       THRU    3\nENDDATA\n"
