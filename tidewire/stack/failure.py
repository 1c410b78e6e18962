"""What can go wrong with the machine below tidewire, each with the exit code that scripts can rely on.

| exit code | class | what it means |
| --- | --- | --- |
| 0 | – | done |
| 1 | `TidewireError` | the work failed; the message says why, and trying again may help |
| 2 | `UserError` | an option, a setting or a file of the user is wrong |
| 3 | `RequirementError` | Java or a jar is missing, wrong or cannot be had |
| 4 | `DirectoryInUseError` | another `tidewire up` holds the data directory |
| 5 | `PortInUseError` | a port that is needed is taken |
| 6 | `DiskFullError` | too little disk |
| 7 | `NoPermissionError` | a file or directory cannot be written |
| 8 | `ChildFailedError` | broker, engine or edge must be mended, or died again and again before all were ready |
| 9 | – | engine or edge alone: cannot go on, and starting it again does not help |
| 130 | `KeyboardInterrupt` | stopped with Ctrl-C |
"""

from __future__ import annotations

from state.errors import TidewireError


class StackError(TidewireError):
    """Root of the embedded stack's errors; `exit_code` is what the command line ends with."""

    code = "stack"
    exit_code = 1


class RequirementError(StackError):
    """Java or a jar is missing, of a wrong version, or cannot be fetched."""

    code = "missing_requirement"
    exit_code = 3


class DirectoryInUseError(StackError):
    """Another stack holds the data directory."""

    code = "directory_in_use"
    exit_code = 4
    retry_helps = True


class PortInUseError(StackError):
    """A port that is needed is taken by another process."""

    code = "port_in_use"
    exit_code = 5
    retry_helps = True


class DiskFullError(StackError):
    """The disk below the data directory has too little room left."""

    code = "disk_full"
    exit_code = 6
    retry_helps = True


class NoPermissionError(StackError):
    """A file or directory that must be written cannot be."""

    code = "no_permission"
    exit_code = 7


class ChildFailedError(StackError):
    """A process of the stack must be mended, or died again and again before the stack was ever ready; with its log."""

    code = "child_failed"
    exit_code = 8
