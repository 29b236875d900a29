import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    FlexibleChecksumError,
    ReadTimeoutError,
)
from s3fs.errors import translate_boto_error

from distanon.errors import AccessError, StorageError
from distanon.storage.faults import TruncatedError, explain, is_transient


def answered(code: str, status: int) -> Exception:
    """What s3fs makes of a refusal whose own text quotes a key."""
    response = {
        "Error": {"Code": code, "Message": "the key AKQUOTED"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return translate_boto_error(ClientError(response, "PutObject"))


@pytest.mark.parametrize(
    "error",
    [
        answered("SlowDown", 503),
        answered("InternalError", 500),
        answered("503", 503),
        answered("RequestTimeout", 400),
        answered("NoSuchUpload", 404),
        EndpointConnectionError(endpoint_url="http://x"),
        ReadTimeoutError(endpoint_url="http://x"),
        FlexibleChecksumError(error_msg="expected a, got b"),
        answered("XAmzContentSHA256Mismatch", 400),
        ConnectionResetError(),
        TimeoutError(),
        TruncatedError(),
    ],
    ids=str,
)
def test_what_may_go_away_by_itself_is_tried_again(error):
    assert is_transient(error)


LASTING = {
    ("ExpiredToken", 400): r"the credentials have expired \(ExpiredToken\)",
    ("TokenRefreshRequired", 400): "the credentials have expired",
    ("AccessDenied", 403): "no permission to write it",
    ("NoSuchBucket", 404): "no such bucket",
    ("RequestTimeTooSkewed", 403): "clock differs",
    ("SignatureDoesNotMatch", 403): "credentials were refused",
}


@pytest.mark.parametrize(("answer", "words"), LASTING.items(), ids=str)
def test_what_lasts_is_said_at_once_in_words_that_quote_nothing(answer, words):
    error = answered(*answer)
    assert not is_transient(error)
    before = explain(error, "s3://b/x", "write", running=False)
    later = explain(error, "s3://b/x", "write", running=True)
    assert isinstance(before, AccessError)
    assert isinstance(later, StorageError)
    assert "distanon resume" in str(later)
    for told in (before, later):
        with pytest.raises(type(told), match=words):
            raise told
        assert "AKQUOTED" not in str(told)


def test_an_overload_that_did_not_end_is_not_called_out_of_reach():
    told = explain(answered("SlowDown", 503), "s3://b/x", "write", running=True)
    assert "has refused for too long to write it (SlowDown)" in str(told)
