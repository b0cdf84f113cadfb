"""One real service for these tests too."""

from tests.service.conftest import service

__all__ = ["service"]
