# A poll with a timeout of 0 never returns here, so selectors, socket, asyncio and subprocess hang on import; without
# select.poll they fall back to select.
import select

del select.poll
