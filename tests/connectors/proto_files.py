"""Schemas of the tests of Protobuf, compiled once from text, and records of them."""

from __future__ import annotations

import base64
import struct
from functools import cache
from typing import Any

from catalog.schema.proto_schema import ProtoSchema
from connectors.schemas.proto_compiler import compile_texts

TRADE = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "types.proto";

enum Side { UNKNOWN = 0; BUY = 1; SELL = 2; }

message Key { int64 id = 1; }

message Trade {
  message Part { int64 id = 1; message Piece { int64 id = 1; string v = 2; } }
  int64 id = 1;
  optional int32 v = 2;
  repeated string more = 3;
}

message Values {
  map<string, int64> a_map = 1;
  message Inner { int64 id = 1; }
  int64 id = 2;
  bool a_bool = 3;
  int32 an_int32 = 4;
  sint32 a_sint32 = 5;
  uint32 a_uint32 = 6;
  fixed32 a_fixed32 = 7;
  sfixed32 a_sfixed32 = 8;
  int64 an_int64 = 9;
  sint64 a_sint64 = 10;
  uint64 a_uint64 = 11;
  fixed64 a_fixed64 = 12;
  sfixed64 a_sfixed64 = 13;
  float a_float = 14;
  double a_double = 15;
  string a_string = 16;
  bytes some_bytes = 17;
  Side an_enum = 18;
  repeated int64 many = 19;
  google.protobuf.Timestamp a_timestamp = 20;
  google.protobuf.Int64Value a_wrapped = 21;
  google.protobuf.BytesValue wrapped_bytes = 22;
  google.type.Date a_date = 23;
  google.type.Decimal a_decimal = 24;
  confluent.type.Decimal an_unscaled = 25;
  Inner inner = 26;
  optional string maybe = 27;
  oneof one { int64 either = 28; string other = 29; }
}
"""
TYPES = {
    "types.proto": 'syntax = "proto3"; import public "date.proto";'
    ' import public "decimals.proto"; import public "c.proto";',
    "date.proto": 'syntax = "proto3"; package google.type;'
    " message Date { int32 year = 1; int32 month = 2; int32 day = 3; }",
    "decimals.proto": 'syntax = "proto3"; package google.type; message Decimal { string value = 1; }',
    "c.proto": 'syntax = "proto3"; package confluent.type;'
    " message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }",
}
LATER = 'syntax = "proto3"; package shop; message Trade { int64 id = 1; optional int32 v = 2; string w = 4; }'
OLD = (
    'syntax = "proto2"; package shop;'
    " message Trade { required int64 id = 1; optional string v = 2; optional int32 n = 3 [default = 7]; }"
)


@cache
def text_of(proto: str) -> str:
    """The schema as a table lists it."""
    return base64.b64encode(compile_texts({"root.proto": proto} | TYPES, "root.proto")).decode()


def message(proto: str, name: str, **values: Any) -> bytes:
    """The bytes of one message."""
    made = ProtoSchema(text_of(proto), "").message(name)._class(**values)
    return bytes(made.SerializeToString())


def frame(number: int, path: bytes, data: bytes) -> bytes:
    """`data` as the registry's serializers frame it."""
    return struct.pack(">bI", 0, number) + path + data
