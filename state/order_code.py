"""Order codes: every orderable value as one int64, exactly order-preserving (architecture, "Order codes")."""

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
