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
