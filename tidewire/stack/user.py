"""The user that runs Spark must have a name: Hadoop inside Spark logs in as the user of the process.

Tried: without a passwd entry Spark ends with "invalid null input: name" in a 100-line trace, whatever USER,
HADOOP_USER_NAME and `user.home` say. Containers that run under an arbitrary number are such a case.
"""

from __future__ import annotations

import os
import pwd

from tidewire.stack.failure import RequirementError


def require_named_user() -> str:
    """Return the user's name. *Raises* RequirementError where the user has no passwd entry."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError as error:
        raise RequirementError(
            f"user {number} has no name: expected an entry in /etc/passwd, got none, and Spark cannot log in without. "
            "Add an entry for it (a container's start script can), or run as another user."
        ) from error
