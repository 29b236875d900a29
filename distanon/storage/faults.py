"""What went wrong with a place, in the user's words.

A message names the place, what was refused and the fix. It never holds a credential, nor the
service's own text, which may quote one.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from distanon.errors import AccessError, DistanonError, StorageError

RESUMABLE = "what is finished is kept: `distanon resume` goes on from there"

_WRONG_CREDENTIALS = frozenset(
    {"InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidSecurity"}
)
_EXPIRED = frozenset({"ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException"})
_DENIED = frozenset({"AccessDenied", "AllAccessDisabled", "AccountProblem", "403", "Forbidden"})
_TAKEN = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
_UNREACHABLE = (
    "EndpointConnectionError",
    "ConnectionError",
    "ConnectionClosedError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "HTTPClientError",
    "FSTimeoutError",
    "ClientPayloadError",
    "ResponseParserError",
    "ClientConnectionError",
    "TimeoutError",
)
_CUT_SHORT = (
    "IncompleteRead",
    "IncompleteReadError",
    "ResponseStreamingError",
    "TruncatedError",
    "FlexibleChecksumError",  # what came is not what the storage holds, by its own checksum
)
_SERVER_FAULT = 500
_TRANSIENT = frozenset(
    {
        "SlowDown",
        "ServiceUnavailable",
        "InternalError",
        "RequestTimeout",
        "OperationAborted",
        "Throttling",
        "ThrottlingException",
        "TooManyRequests",
        "IncompleteBody",
        "BadDigest",
        "XAmzContentSHA256Mismatch",
        "NoSuchUpload",  # of an upload that was completed, and the answer got lost
    }
)
_SKEWED = "RequestTimeTooSkewed"
_UNSIGNED = ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound")


class TruncatedError(OSError):
    """An answer was whole by its own account, and shorter than what was asked for."""


@contextmanager
def explained(place: str, doing: str, *, running: bool) -> Iterator[None]:
    """Turns what a file system raises into errors that a user can act on.

    Args:
        place: the URL.
        doing: "read", "write", "list", "delete".
        running: whether the run is under way, so that it can be resumed.

    Raises:
        AccessError: the place can't be used, and nothing has been started.
        StorageError: the disk is full, or the run was under way.
    """
    try:
        yield
    except DistanonError:
        raise
    except OSError as error:
        raise explain(error, place, doing, running=running) from None
    except Exception as error:
        # botocore's own errors derive from Exception alone, and only s3 stores know them. What
        # the caller's own code raises while a file is open is the caller's.
        if type(error).__module__.partition(".")[0] not in ("botocore", "aiobotocore", "aiohttp"):
            raise
        raise explain(error, place, doing, running=running) from None


def explain(error: Exception, place: str, doing: str, *, running: bool) -> DistanonError:
    """The error that a user meets in place of the file system's own."""
    if isinstance(error, OSError) and is_full(error):
        return full(place, doing)
    reason = _reason(error, doing)
    if running:
        return StorageError(f"{place}: {reason}; {RESUMABLE}")
    return AccessError(f"{place}: {reason}")


def is_full(error: OSError) -> bool:
    """Whether there was no room: on the disk, within the quota, or within the file limit."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def full(place: str, doing: str) -> StorageError:
    """The error for a place without room."""
    return StorageError(
        f"{place}: no room left to {doing} it; free some space or choose another place; {RESUMABLE}"
    )


def code_of(error: BaseException) -> str:
    """The S3 error code behind an error; "" where there is none."""
    codes = [
        str(response.get("Error", {}).get("Code", ""))
        for one in _chain(error)
        if isinstance(response := getattr(one, "response", None), dict)
    ]
    # A HEAD has no body, so its code is only the status: a code with a name says more.
    named = [code for code in codes if code and not code.isdigit()]
    return (named or codes or [""])[0]


def is_taken(error: Exception) -> bool:
    """Whether an exclusive create was refused since the name exists (or is just being made)."""
    return isinstance(error, FileExistsError) or code_of(error) in _TAKEN


def is_transient(error: Exception) -> bool:
    """Whether the same may succeed a little later: overload, a broken line, an answer cut short."""
    code = code_of(error)
    if code:
        return code in _TRANSIENT or _status_of(error) >= _SERVER_FAULT
    return not _kinds(error).isdisjoint((*_UNREACHABLE, *_CUT_SHORT))


def _status_of(error: BaseException) -> int:
    """The HTTP status behind an S3 error; 0 where there is none."""
    statuses = [
        int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        for one in _chain(error)
        if isinstance(response := getattr(one, "response", None), dict)
    ]
    return max(statuses, default=0)


def _kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for one in _chain(error) for kind in type(one).__mro__}


def _reason(error: Exception, doing: str) -> str:
    code = code_of(error)
    kinds = _kinds(error)
    reasons = (
        (
            not kinds.isdisjoint(_UNSIGNED),
            (
                f"no credentials to {doing} it; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or run where a role is attached"
            ),
        ),
        (
            code in _WRONG_CREDENTIALS,
            f"the credentials were refused ({code}); check the key pair and the endpoint",
        ),
        (code in _EXPIRED, f"the credentials have expired ({code}); sign in again"),
        (
            code == _SKEWED,
            f"this machine's clock differs from the storage's ({code}); set it right",
        ),
        (
            code == "NoSuchBucket",
            "there is no such bucket; check its name and the endpoint, or make it",
        ),
        (
            code in _DENIED or "PermissionError" in kinds,
            f"no permission to {doing} it; grant it to these credentials, or use others",
        ),
        (
            "FileNotFoundError" in kinds and doing == "write",
            "nothing can be written there: no such folder, and none can be made; check the path",
        ),
        ("FileNotFoundError" in kinds, f"there is nothing to {doing}; check the path"),
        (
            getattr(error, "errno", None) == errno.EROFS,
            "it lies on a read-only file system; choose another place",
        ),
        (
            not code and not kinds.isdisjoint((*_UNREACHABLE, *_CUT_SHORT)),
            "the storage could not be reached; check the endpoint and the network",
        ),
        (
            bool(code) and is_transient(error),
            f"the storage has refused for too long to {doing} it ({code}); try again later",
        ),
        (
            "ParamValidationError" in kinds,
            "not a name that a bucket or an object can have; check the path",
        ),
    )
    number = getattr(error, "errno", None) or 0
    detail = code or errno.errorcode.get(number, type(error).__name__)
    otherwise = f"it could not be used to {doing} ({detail})"
    return next((reason for holds, reason in reasons if holds), otherwise)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, then what it came from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
