"""Keeps a Ray session of one's own to this machine and this user.

By itself Ray listens on all network interfaces, even where it is told 127.0.0.1, and whoever
reaches a session can run code in it. It protects one with a token that it leaves in the home
folder, readable for all.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator

_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # "0": 127.0.0.1 only, on Linux too
_MODE = "RAY_AUTH_MODE"
_TOKEN = "RAY_AUTH_TOKEN"  # noqa: S105  the variable's name


@contextlib.contextmanager
def secluded() -> Iterator[None]:
    """Ray that is started in the block listens on loopback alone and asks for a fresh token.

    A mode of authentication that the environment names is left as it is.
    """
    from ray._private import ray_constants

    variables = {_LOOPBACK: "0"}
    if _MODE not in os.environ:
        variables |= {_MODE: "token", _TOKEN: secrets.token_hex(32)}
    with environment(variables, replace=True):
        networked = ray_constants.ENABLE_RAY_CLUSTER  # read from the variable at import
        ray_constants.ENABLE_RAY_CLUSTER = False
        _read_again()
        try:
            yield
        finally:
            ray_constants.ENABLE_RAY_CLUSTER = networked
    _read_again()


@contextlib.contextmanager
def environment(variables: dict[str, str], *, replace: bool = False) -> Iterator[None]:
    """Sets environment variables for the block; those that are set stay unless replaced."""
    chosen = {name: text for name, text in variables.items() if replace or name not in os.environ}
    earlier = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, text in earlier.items():
            os.environ.pop(name, None)
            if text is not None:
                os.environ[name] = text


def _read_again() -> None:
    """Ray reads the mode and the token once a process."""
    from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]

    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
