# /// script
# requires-python = ">=3.11"
# dependencies = ["wasmer-sdk==0.5.0"]
# ///
"""A WasmerError cannot cross a process boundary: it pickles, does not unpickle, and breaks a process pool."""
import asyncio
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from wasmer_sdk import Wasmer, WasmerError


def job():
    asyncio.run(Wasmer().packages.load(Path("missing.webc")))


def main():
    try:
        job()
    except WasmerError as error:
        print(f"in this process: WasmerError, {error.code}", flush=True)
        try:
            print(f"through pickle: WasmerError, {pickle.loads(pickle.dumps(error)).code}", flush=True)
        except TypeError as problem:
            print(f"through pickle: TypeError, {problem}", flush=True)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            pool.submit(job).result()
        except WasmerError as error:
            print(f"from a pool's process: WasmerError, {error.code}", flush=True)
        except Exception as error:
            print(f"from a pool's process: {type(error).__name__}", flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # a normal exit of the interpreter aborts now and then
