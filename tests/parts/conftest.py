"""The browser's fixtures, for the pages of parts."""

from tests.browser.conftest import browse, chromium, live, log_in, port

__all__ = ["browse", "chromium", "live", "log_in", "port"]
