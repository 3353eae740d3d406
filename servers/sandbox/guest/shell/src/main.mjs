// A shell for the sandbox: just-bash on the shared folder, with programs that the host runs.
import "./globals.mjs";
import * as os from "qjs:os";
import * as std from "qjs:std";
import { Bash, getCommandNames } from "just-bash/browser";
import { COMMANDS } from "./commands.mjs";
import { Live } from "./live.mjs";
import { Root } from "./root.mjs";
import { Scripts } from "./scripts.mjs";
import { encode, toLatin1 } from "./text.mjs";
import { Traps } from "./traps.mjs";
import { askRemove, askRun, readRequest, sendExit, sendOutput } from "./wire.mjs";
import { Workspace } from "./workspace.mjs";

const FOLDER = "/workspace";

// It needs a DOM.
const LEFT_OUT = new Set(["html-to-markdown"]);

// The host limits time and memory. What recurses without end is stopped here, before it fills the memory.
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const LIMITS = {
  maxCallDepth: 1000,
  maxExecDepth: 200,
  maxSubstitutionDepth: 200,
  maxSourceDepth: 200,
  maxExecutionTimeMs: Number.POSITIVE_INFINITY,
};
for (const name of [
  "maxCommandCount",
  "maxLoopIterations",
  "maxAwkIterations",
  "maxSedIterations",
  "maxJqIterations",
  "maxQueryElements",
  "maxQueryTokens",
  "maxAwkParserOperations",
  "maxWorkUnits",
  "maxTraversalEntries",
  "maxTraversalWork",
  "maxGlobOperations",
  "maxInputBytes",
  "maxOutputSize",
  "maxLiveBytes",
]) {
  LIMITS[name] = NO_LIMIT;
}

/** An exit code is a byte: `exit 256` is 0, `exit -1` is 255. */
function toByte(code) {
  return ((code % 256) + 256) % 256;
}

async function run() {
  const request = readRequest();
  const removeTree = request.remove ? askRemove : null;
  const workspace = new Workspace(FOLDER, request.modes, removeTree);
  const live = new Live(sendOutput);
  const scripts = new Scripts({ run: askRun }, request.commands, live);
  const traps = new Traps(live);
  const execute = (interpreter, script) => {
    scripts.adopt(interpreter);
    return traps.run(interpreter, script);
  };
  globalThis.sandboxShell = { live, scripts, execute, toLatin1 };
  os.chdir(request.cwd);

  const bash = new Bash({
    fs: new Root(FOLDER, workspace),
    cwd: request.cwd,
    env: { HOME: FOLDER, USER: "user", TMPDIR: "/tmp", ...request.env },
    commands: getCommandNames().filter((name) => !LEFT_OUT.has(name)),
    customCommands: [...COMMANDS, traps.command, ...scripts.commands],
    executionLimits: LIMITS,
    defenseInDepth: false,
  });
  bash.registerTransformPlugin(scripts.plugin);

  const result = await scripts.main(bash, request.argv, request.cwd, {}, request.stdin);
  live.flush(result);
  sendExit(toByte(result.exitCode), workspace.modesChanged ? workspace.modes : undefined);
}

run().then(
  () => std.exit(0),
  (error) => {
    sendOutput("stderr", encode(`bash: internal error: ${error}\n${error?.stack ?? ""}`));
    sendExit(125);
    std.exit(0);
  },
);
