"""The one thing that pyproject.toml cannot say: the top-level templates belong into the package."""

from pathlib import Path
from shutil import copytree

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTemplates(build_py):
    """Copies `templates/` to `publisher/templates/` of a wheel; a checkout uses it as it is."""

    def run(self) -> None:
        """Build as usual, then add the templates unless this is an editable install."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "publisher" / "templates"
            copytree("templates", target, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithTemplates})
