# /// script
# requires-python = ">=3.11"
# dependencies = ["mcp==2.3.0"]
# ///
"""A handler of a low-level server fails at broken records of its own: what the client is told, and what is logged."""
import asyncio
import logging

from mcp.server import Server
from mcp.types import GetPromptResult, PromptMessage, TextContent
from pydantic import BaseModel


class Account(BaseModel):
    city: str


RECORDS = {"ann": {"city": "Oslo"}, "bob": {"town": "Bergen"}}


async def prompt(name):
    text = TextContent(type="text", text=f"{name} lives in {Account(**RECORDS[name]).city}")
    return GetPromptResult(messages=[PromptMessage(role="user", content=text)])


try:
    from mcp import Client

    async def handler(context, params):
        return await prompt(params.name)

    client = Client(Server("demo", on_get_prompt=handler))
except ImportError:  # mcp 1.x
    from mcp.shared.memory import create_connected_server_and_client_session

    server = Server("demo")

    @server.get_prompt()
    async def handler(name, arguments):
        return await prompt(name)

    client = create_connected_server_and_client_session(server)

logged = []
logging.lastResort.emit = logged.append  # what is logged at WARNING and above, as no other handler is set


async def main():
    async with client as session:
        for name in "ann", "bob", "eve":  # right, an invalid record, and none, which is a KeyError
            logged.clear()
            try:
                answer = (await session.get_prompt(name)).messages[0].content.text
            except Exception as error:
                answer = f"error {error.error.code}, {str(error).splitlines()[0]}"
            print(f"{name}: {answer}; lines in the log: {len(logged)}", flush=True)


asyncio.run(main())
