"""Run the measurements named on the command line, or all of them."""

import importlib
import pkgutil
import sys

import bench


def main() -> int:
    """Run them one after the other, print their tables; 2 for a name that is no measurement."""
    names = sorted(found.name for found in pkgutil.iter_modules(bench.__path__))
    for name in sys.argv[1:] or names:
        module = importlib.import_module(f"bench.{name}") if name in names else None
        run = getattr(module, "run", None)
        if run is not None:
            print(f"\n== {name}", flush=True)
            for table in run() or []:
                print(table, flush=True)
        elif sys.argv[1:]:
            print(f"bench: no measurement {name!r} (known: {', '.join(names)})", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
