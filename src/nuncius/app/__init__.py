"""The only place that knows everybody: settings in, Library and Runtime out."""

from nuncius.app.build import App, open_app

__all__ = ["App", "open_app"]
