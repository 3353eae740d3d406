"""Where things are in a sandbox. All files that stay are below `/workspace`."""

import posixpath

from servers.refusal import Code, Refusal

WORKSPACE = "/workspace"
LONGEST = 1024
DEEPEST = 100


def in_workspace(path: str) -> str | Refusal:
    """The path as an absolute one below `/workspace`; a relative one is taken from there."""
    if "\0" in path or not path or len(path) > LONGEST:
        what = "holds a NUL character" if "\0" in path else f"has {len(path)} characters"
        return Refusal(
            Code.INVALID_ARGUMENTS, f"the path {what}", f"Give a path of 1 to {LONGEST} characters without NUL."
        )
    if any("\ud800" <= one <= "\udfff" for one in path):
        return Refusal(Code.INVALID_ARGUMENTS, "the path holds a lone surrogate", "Give a path that is valid Unicode.")
    absolute = posixpath.normpath(posixpath.join(WORKSPACE, path))
    if absolute != WORKSPACE and not absolute.startswith(WORKSPACE + "/"):
        return Refusal(
            Code.NOT_ALLOWED,
            f"{path!r} is outside of {WORKSPACE}",
            f"Give a path below {WORKSPACE}; nothing elsewhere outlives a call.",
        )
    if absolute.count("/") > DEEPEST:
        what = f"the path leads through more than {DEEPEST} folders"
        return Refusal(Code.INVALID_ARGUMENTS, what, "Give a path that is less deep.")
    return absolute
