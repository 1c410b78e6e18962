"""A request in which what is said of the subscriber beside the question stands within it."""

from __future__ import annotations

from msgspec import structs

from catalog.query.given_attributes import with_attributes
from catalog.schema.catalog import Catalog
from overlay.intake.subscription_request import Request


def attributed(request: Request, catalog: Catalog) -> Request:
    """Return the request with its attributes in its SQL, or in its template and parameters.

    Raises SubscriptionError, `malformed`. *Cost*: nothing without attributes, else that of the statement's tokens.
    """
    if request.attributes is None:
        return request
    if request.sql is not None:
        sql, _ = with_attributes(catalog, request.sql, request.attributes)
        return structs.replace(request, sql=sql, attributes=None)
    template, values = with_attributes(catalog, request.template or "", request.attributes, holes=True)
    params = [*(request.params or ()), *values]
    return structs.replace(request, template=template, params=params, attributes=None)
