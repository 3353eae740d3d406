"""Runs inside the guest: a CPython that waits, started, for what it is to run. It serves one call and ends.

Its stdin begins with ten digits, the length of a marshalled (argv, cwd, env, told); what follows is the program's own.
An exit code outside of 0 to 255 would not arrive, so it is left in the file `told`, and 222 is the code that says so.
Only modules that every interpreter loads or has built in are imported here: others would double the time of a start.
"""

import atexit
import builtins
import gc
import io
import marshal
import os
import sys

TOLD_IN_FILE = 222
ARCHIVE_END = b"PK\5\6"
OURS = (__file__, "<frozen runpy>")
BUFFERED = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def exactly(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, min(size - len(data), 1 << 20))
        if not piece:
            leave_at_once(0)
        data += piece
    return data


leave_at_once = os._exit
gc.freeze()  # What is there before the program need not be looked at when it is over.
argv, cwd, env, told = marshal.loads(exactly(int(exactly(10))))


def leave(status):
    if not 0 <= status < 256 and told:
        with open(told, "w") as file:
            file.write(str(status))
        status = TOLD_IN_FILE
    leave_at_once(status)


def show(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in OURS:
        trace = trace.tb_next
    above = trace
    while above is not None:  # `input` is one of ours, too
        if above.tb_next is not None and above.tb_next.tb_frame.f_code.co_filename == __file__:
            above.tb_next = None
        above = above.tb_next
    error = error.with_traceback(trace)
    if sys.excepthook is not sys.__excepthook__:
        try:
            sys.excepthook(type(error), error, trace)
        except Exception as broken:
            sys.excepthook = sys.__excepthook__
            print("Error in sys.excepthook:", file=sys.stderr)
            show(broken)
        return
    try:
        show_with_source(error)
    except (MemoryError, RecursionError):
        sys.__excepthook__(type(error), error, trace)  # It shows less, and needs next to nothing.


def show_with_source(error):
    import linecache
    import traceback

    for name, text in sources.items():
        # Lines as the compiler counts them. Where the last one has no end, the marks below it are one place off.
        linecache.cache[name] = (len(text), None, io.StringIO(text + "\n", None).readlines(), name)
    traceback.print_exception(error)


sources = {}


def run_module(name, alter_argv=True):
    import runpy

    runpy._run_module_as_main(name, alter_argv)


def run(argv, main):
    if not argv or argv[0] == "-":
        sys.argv = argv or [""]
        execute(sys.stdin.buffer.read(), "<stdin>", main)
    elif argv in (["-c"], ["-m"]):
        print(f"python: argument expected for the {argv[0]} option", file=sys.stderr)
        raise SystemExit(2)
    elif argv[0] == "-c":
        sys.argv = ["-c", *argv[2:]]
        execute(argv[1], "<string>", main)
    elif argv[0] == "-m":
        sys.argv = argv[1:]
        run_module(argv[1])
    else:
        sys.argv = argv
        run_file(argv[0], main)


def run_package(path):
    sys.path.insert(0, path)
    run_module("__main__", alter_argv=False)


def run_file(path, main):
    full = os.path.abspath(path)
    if os.path.isdir(full):
        run_package(full)
        return
    try:
        with open(full, "rb") as file:
            code = file.read()
    except OSError as error:
        print(f"python: can't open file {full!r}: {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None
    if b"\0" in code and ARCHIVE_END in code:
        run_package(full)
        return
    sys.path[0] = os.path.dirname(full)
    main.__file__ = path
    execute(code, path, main)


def execute(source, name, main):
    if name in ("<string>", "<stdin>"):
        sources[name] = source if isinstance(source, str) else source.decode("utf-8", "replace")
    exec(compile(source, name, "exec", dont_inherit=True), main.__dict__)


def let_go(main):
    """What an interpreter does at its end, which is skipped: files never closed get what was written to them."""
    for name in list(vars(main)):
        if name != "__builtins__":
            vars(main)[name] = None
    gc.collect()
    for thing in gc.get_objects():
        if issubclass(type(thing), BUFFERED):
            try:
                thing.flush()
            except (OSError, ValueError):
                pass


def read_line(prompt="", /):
    """`input`. The real one takes stdin for a terminal, and cuts the last character of text that ends in no newline."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


def serve():
    os._exit = leave
    builtins.input = read_line
    os.chdir(cwd)
    os.environ.update(env)
    sys.stdout.reconfigure(line_buffering=True)
    sys.path[0] = ""
    main = type(sys)("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    status = 0
    try:
        run(argv, main)
    except SystemExit as leaving:
        status = leaving.code
        if status is None:
            status = 0
        elif not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except BaseException as error:
        show(error)
        status = 1
    atexit._run_exitfuncs()
    let_go(main)
    for stream in sys.stdout, sys.stderr:
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            status = status or 120
    leave(status)


serve()
