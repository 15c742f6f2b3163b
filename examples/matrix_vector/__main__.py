"""``python -m examples.matrix_vector``: the product on the simulated chip, beside NumPy's."""

import argparse

from .simulation import draw, multiply


def main() -> None:
    """Print what was computed, whether it is right, and how long each part took."""
    parser = argparse.ArgumentParser(prog="python -m examples.matrix_vector")
    parser.add_argument("--mesh", default="4x4", help="the tiles (default 4x4)")
    parser.add_argument("--rows", type=int, default=4, help="rows of the matrix at each tile")
    parser.add_argument("--seed", type=int, default=1, help="what the numbers are drawn from")
    parser.add_argument("--timeline", metavar="FILE", help="draw who did what, when")
    given = parser.parse_args()
    width, height = (int(side) for side in given.mesh.split("x"))
    product = multiply(width, height, given.rows, given.seed)
    size = product.expected.shape[0]
    print(f"{size}x{size} matrix times vector, {given.rows} rows at each of {width}x{height} tiles")
    for name, cycle in product.phases.items():
        print(f"  {name} in cycle {cycle}")
    right = product.right
    print(f"all {len(product.results)} tiles have NumPy's result: {'yes' if right else 'NO'}")
    if given.timeline:
        draw(product, given.timeline)
    raise SystemExit(not right)


if __name__ == "__main__":
    main()
