// Output as it comes. just-bash hands a script's output over when the script has ended; a shell that is stopped at a
// time limit would have shown nothing. scripts/build_shell.sh puts calls of the hooks below into just-bash.
//
// A statement is live if what it prints goes straight to the shell's own stdout and stderr: those of the script, and of
// the loops, conditions and groups in it that redirect nothing. Output of a live statement is sent at once, and is gone
// from the result that just-bash goes on to build.
import { decode, encode, fromLatin1 } from "./text.mjs";

const BODIES = {
  If: (node) => [...node.clauses.flatMap((clause) => [clause.condition, clause.body]), node.elseBody ?? []],
  For: (node) => [node.body],
  CStyleFor: (node) => [node.body],
  While: (node) => [node.condition, node.body],
  Until: (node) => [node.condition, node.body],
  Case: (node) => node.items.map((item) => item.body),
  Group: (node) => [node.body],
};

export function markLive(statements) {
  for (const statement of statements) {
    statement.live = true;
    for (const { commands } of statement.pipelines) {
      if (commands.length !== 1 || commands[0].redirections?.length > 0) continue;
      for (const body of BODIES[commands[0].type]?.(commands[0]) ?? []) markLive(body);
    }
  }
}

function isBytes(result) {
  return (result.stdoutKind ?? (result.stdoutEncoding === "binary" ? "bytes" : "text")) === "bytes";
}

function stdoutBytes(result) {
  return isBytes(result) ? fromLatin1(result.stdout) : encode(result.stdout);
}

// What is left of a result whose output was sent, with just-bash's own count of it.
const NOTHING = {
  stdout: "",
  stderr: "",
  stdoutKind: "text",
  stdoutEncoding: undefined,
  internalOutputAccounting: undefined,
};

export class Live {
  #send;
  #yielded = Date.now();
  /** Whether the command that is about to start is all there is to a live pipeline. */
  direct = false;
  /** The interpreter that runs it. */
  interpreter = null;

  constructor(send) {
    this.#send = send;
  }

  beforePipeline(interpreter, statement, pipeline) {
    this.interpreter = interpreter;
    const [command] = pipeline.commands;
    this.direct =
      statement.live === true &&
      pipeline.commands.length === 1 &&
      command.type === "SimpleCommand" &&
      command.redirections.length === 0;
  }

  afterPipeline(statement, result) {
    if (statement.live !== true) return result;
    this.flush(result);
    return { ...result, ...NOTHING };
  }

  // What is led somewhere becomes text, which loses nothing: see text.mjs.
  beforeRedirection(state, result, redirections) {
    if (!isBytes(result)) return result;
    const led = redirections.length > 0 || state.fileDescriptors?.has(1) || state.fileDescriptors?.has(2);
    if (!led) return result;
    const stdout = decode(fromLatin1(result.stdout));
    return { ...result, stdout, stdoutKind: "text", stdoutEncoding: undefined, internalOutputAccounting: undefined };
  }

  flush(result) {
    if (result.stderr) this.#send("stderr", encode(result.stderr));
    if (result.stdout) this.#send("stdout", stdoutBytes(result));
  }

  // Promises alone never let QuickJS look at its timers, on which `timeout` depends.
  pause() {
    const now = Date.now();
    if (now - this.#yielded < 20) return null;
    this.#yielded = now;
    return new Promise((resolve) => setTimeout(resolve, 0));
  }
}
