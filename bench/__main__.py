"""Run the measurements named on the command line, or all of them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench


def main() -> int:
    """Run them one after the other, print their tables; 2 for a name that is no measurement."""
    modules = {
        found.name: importlib.import_module(f"bench.{found.name}")
        for found in pkgutil.iter_modules(bench.__path__)
        if not found.name.startswith("_")
    }
    known = {name: module for name, module in modules.items() if hasattr(module, "run")}
    chosen = sys.argv[1:] or sorted(known)
    if unknown := [name for name in chosen if name not in known]:
        print(f"bench: no measurement {unknown[0]!r} (known: {', '.join(sorted(known))})")
        return 2
    for name in chosen:
        print(f"\n== {name}", flush=True)
        for table in known[name].run() or []:
            print(table, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
