"""An MCP server whose tools answer in one grammar: the payload, or `{"error": {"code", "message", "hint"}}`."""

import functools
import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from servers.refusal import Code, Refusal
from servers.workarounds import workaround

_MOST_PROBLEMS, _MOST_OF_A_NAME = 20, 100  # an answer does not grow with what was wrong in the call
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
log = logging.getLogger(__name__)


class Answer(BaseModel):
    """The payload of a tool. Its fields are what the published output schema says."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ErrorBody(Answer):
    """Why a call was refused."""

    code: Code
    message: str
    hint: str


class ErrorAnswer(Answer):
    """What a failed call answers, whichever tool was called."""

    error: ErrorBody


type_of_tool = Callable[..., Awaitable[Answer | Refusal]]


class ToolServer(MCPServer[Any]):
    """An `MCPServer` that words every failure of a call as a `Refusal`, and publishes schemas that say so."""

    def answering(self, *, title: str, hints: ToolAnnotations) -> Callable[[type_of_tool], type_of_tool]:
        """Registers an `async def tool(...) -> SomeAnswer | Refusal`; its docstring is the description."""

        def register(function: type_of_tool) -> type_of_tool:
            answer = _answer_of(function)
            description = inspect.getdoc(function)
            self.add_tool(_on_the_wire(function, answer), title=title, description=description, annotations=hints)
            tool = self._tool_manager.get_tool(function.__name__)
            assert tool is not None
            tool.fn_metadata.output_schema = either(answer)
            tool.fn_metadata.output_model = None  # what we send was a model of ours: no need to check it again
            if workaround("F-077"):
                model = tool.fn_metadata.arg_model
                model.model_config["extra"] = "forbid"
                model.model_rebuild(force=True)
                tool.parameters = model.model_json_schema(by_alias=True)
            return function

        return register

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """As `MCPServer.call_tool`, but a failure is a result in our grammar instead of a raised `ToolError`."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                return refused(_about_arguments(name, error.__cause__, self._argument_names(name)))
            if self._tool_manager.get_tool(name) is None:
                known = ", ".join(sorted(tool.name for tool in self._tool_manager.list_tools()))
                return refused(
                    Refusal(Code.UNKNOWN_TOOL, f"there is no tool {name[:_MOST_OF_A_NAME]!r}", f"Call one of: {known}.")
                )
            log.exception("%s failed", name)
            return refused(_our_fault(name))

    def _argument_names(self, name: str) -> list[str]:
        tool = self._tool_manager.get_tool(name)
        return [] if tool is None else sorted(tool.parameters.get("properties", {}))


def _our_fault(name: str) -> Refusal:
    return Refusal(
        Code.INTERNAL,
        f"{name} failed for a reason of the server's own; its log (stderr) has the details",
        "Try once more; if it happens again, report it with that log.",
    )


def _answer_of(function: type_of_tool) -> type[Answer]:
    (answer,) = [
        kind
        for kind in inspect.signature(function, eval_str=True).return_annotation.__args__
        if isinstance(kind, type) and issubclass(kind, Answer)
    ]
    return answer


def _on_the_wire(function: type_of_tool, answer: type[Answer]) -> Callable[..., Awaitable[CallToolResult]]:
    """The function as `MCPServer` wants it: with its arguments, and a `CallToolResult` described by `answer`."""

    @functools.wraps(function)
    async def call(*args: Any, **arguments: Any) -> CallToolResult:
        try:
            outcome = await function(*args, **arguments)
        except (SystemExit, KeyboardInterrupt, GeneratorExit) as leaving:
            # One tool that leaves must not take the server, and everybody else's calls, with it.
            if not workaround("F-078"):
                raise
            log.error("%s raised %r", function.__name__, leaving)
            return refused(_our_fault(function.__name__))
        return refused(outcome) if isinstance(outcome, Refusal) else answered(outcome)

    signature = inspect.signature(function, eval_str=True)
    wired = signature.replace(return_annotation=Annotated[CallToolResult, answer])
    call.__signature__ = wired  # type: ignore[attr-defined]
    call.__annotations__ = {name: one.annotation for name, one in wired.parameters.items()}
    call.__annotations__["return"] = wired.return_annotation
    return call


def _about_arguments(tool: str, error: ValidationError, known: list[str]) -> Refusal:
    found = error.errors(include_url=False, include_input=False)
    named = {str(one["loc"][0]) for one in found if one["loc"]}
    unknown = any(one["type"] in ("extra_forbidden", "missing") for one in found)
    problems = []
    for one in found[:_MOST_PROBLEMS]:
        where = ".".join(map(str, one["loc"]))[:_MOST_OF_A_NAME] or "arguments"
        what = "no such argument" if one["type"] == "extra_forbidden" else one["msg"]
        problems.append(f"{where if where.isprintable() else ascii(where)}: {what[0].lower()}{what[1:]}")
    if len(found) > _MOST_PROBLEMS:
        problems.append(f"and {len(found) - _MOST_PROBLEMS} more")
    takes = f"Its arguments are: {', '.join(known)}." if known else "It takes no arguments."
    hint = (
        f"Call {tool} again. {takes}"
        if unknown or not named
        else f"Call {tool} again with another value for {', '.join(sorted(named))}."
    )
    return Refusal(Code.INVALID_ARGUMENTS, f"{tool}: {'; '.join(problems)}", hint)


def answered(answer: Answer) -> CallToolResult:
    """A success: the payload as structured content, and the same as text for clients that show only text."""
    try:
        text = answer.model_dump_json()
        payload: object = from_json(text)
    except PydanticSerializationError:  # there is a lone surrogate in it
        payload = speakable(answer.model_dump(mode="json"))
        text = json.dumps(payload, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=cast(dict[str, Any], payload)
    )


def refused(refusal: Refusal) -> CallToolResult:
    """A failure, which every client shows: as text, and as structured content that the output schema admits."""
    body = ErrorBody(code=refusal.code, message=refusal.message, hint=refusal.hint)
    payload = speakable(ErrorAnswer(error=body).model_dump(mode="json"))
    text = speakable(f"{refusal.code}: {refusal.message}\n{refusal.hint}")
    return CallToolResult(
        content=[TextContent(type="text", text=str(text))],
        structured_content=cast(dict[str, Any], payload),
        is_error=True,
    )


def speakable(value: object) -> object:
    """The value without lone surrogates, which are no text in UTF-8; each becomes U+FFFD."""
    if not workaround("F-055"):
        return value
    match value:
        case str():
            return LONE_SURROGATE.sub("\ufffd", value)
        case list():
            return [speakable(one) for one in value]
        case dict():
            return {speakable(key): speakable(one) for key, one in value.items()}
        case _:
            return value


def either(answer: type[Answer]) -> dict[str, Any]:
    """A schema that admits the answer and the error, so that a strict client shows the error as well."""
    schema = answer.model_json_schema(mode="serialization")
    definitions = schema.pop("$defs", {})
    error = ErrorAnswer.model_json_schema(mode="serialization")
    definitions |= error.pop("$defs", {})
    return {"type": "object", "anyOf": [schema, error], "$defs": definitions}
