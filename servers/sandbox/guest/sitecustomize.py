# What does not work here, and what to do instead. A poll with a timeout of 0 never returns, so that selectors,
# socket and subprocess hang on import, asyncio too; without select.poll they fall back to select. A select of nothing
# with a timeout of 0 never returns either, and there is no pair of sockets to wake an event loop with. A guest has one
# thread, so nothing has to wake it: without these, asyncio runs.
import select
import sys
import time

del select.poll


class Select:
    def __init__(self, real):
        self.real = real

    def __call__(self, read, write, extra, timeout=None, /):
        if read or write or extra or timeout is None:
            return self.real(read, write, extra, timeout)
        time.sleep(max(0, timeout))
        return [], [], []


class WithoutSelfPipe:
    """Finds asyncio.selector_events as everybody does, then takes its pipe to itself away."""

    def find_spec(self, name, path=None, target=None):
        if name != "asyncio.selector_events":
            return None
        sys.meta_path.remove(self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in sys.meta_path)))
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            for method in "_make_self_pipe", "_close_self_pipe", "_write_to_self":
                setattr(module.BaseSelectorEventLoop, method, lambda loop: None)

        spec.loader.exec_module = exec_module
        return spec


select.select = Select(select.select)
sys.meta_path.insert(0, WithoutSelfPipe())
