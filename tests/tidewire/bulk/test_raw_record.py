import pytest

from connectors.record import OutRecord
from tidewire.bulk.raw_record import read_raw_line


@pytest.mark.parametrize(
    ("line", "record"),
    [
        ('{"topic":"t","key":"é","value":"v"}', OutRecord("t", None, "é".encode(), b"v")),
        ('{"topic":"t","value":null}', OutRecord("t", None, None, None)),
        ('{"topic":"t","key":"","value":{"base64":"AP8="},"partition":3}', OutRecord("t", 3, b"", b"\x00\xff")),
        (
            '{"topic":"t","key":{"json": {"id": 1.50}},"value":{"json":null}}',
            OutRecord("t", None, b'{"id": 1.50}', b"null"),
        ),
    ],
)
def test_lines(line, record):
    assert read_raw_line(line.encode()) == record


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"topic":"t"}', "value"),
        ('{"value":"v"}', "topic"),
        ('{"topic":"","value":"v"}', "topic"),
        ('{"topic":"t","value":"v","kee":1}', "kee"),
        ('{"topic":"t","value":5}', '"value": expected text'),
        ('{"topic":"t","value":{}}', '"value": expected text'),
        ('{"topic":"t","value":{"base64":"A"}}', '"value": not base64'),
        ('{"topic":"t","value":{"base64":"AA==","json":1}}', '"value": expected text'),
        ('{"topic":"t","value":{"hex":"00"}}', "hex"),
        ('{"topic":"t","value":"v","partition":-1}', "partition"),
        ("[]", "Expected"),
        ("{", "ends too early, at character 1"),
        ('{"topic":"t","value":%s}' % ("[" * 30_000), "nested more than 64 deep"),
        ('{"topic":"t","value":{"json":%s}}' % ('{"a":' * 65 + "1" + "}" * 65), "nested more than 64 deep"),
        ('{"topic":"t","value":"\\ud800"}', "lacks the other half"),
        ('{"topic":"t","value":{"json":"\\ud800"}}', "lacks the other half"),
        ('{"topic":"t","value":{"json":NaN}}', "NaN is not a JSON value"),
        ('{"topic":"t","value":"v","partition":1e99999999999999999999}', "partition"),
        ('{"topic":"t","value":"v","partition":%s}' % ("9" * 5_000), "out of range"),
        ('{"topic":"a b","value":"v"}', "its name in letters, digits"),
        ('{"topic":"%s","value":"v"}' % ("x" * 250), "its name in letters, digits"),
        ("\ufeff{}", "byte order mark"),
    ],
)
def test_bad_lines(line, why):
    with pytest.raises(ValueError, match=why):
        read_raw_line(line.encode())
    with pytest.raises(ValueError):
        read_raw_line(b"\xff" + line.encode())


def test_json_goes_out_as_it_was_captured_with_numbers_of_any_size() -> None:
    number = "-1e99999999999999999999"
    line = f'{{"topic":"t","key":{{"json": {{"a": {number} }}}},"value":{{"json":{"9" * 5_000}}}}}'
    record = read_raw_line(line.encode())
    assert (record.key, record.value) == (f'{{"a": {number} }}'.encode(), b"9" * 5_000)
