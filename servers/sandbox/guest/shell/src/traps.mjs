// `trap`, which just-bash lacks. There are no signals here, so of all traps only that on EXIT ever runs.

const NO_OUTPUT = { stdout: "", stderr: "", exitCode: 0 };

/** The statement `eval 'text'` as just-bash would have read it. */
function evalStatement(text, live) {
  const word = (type, value) => ({ type: "Word", parts: [{ type, value }] });
  const command = {
    type: "SimpleCommand",
    assignments: [],
    name: word("Literal", "eval"),
    args: [word("SingleQuoted", text)],
    redirections: [],
  };
  const pipeline = { type: "Pipeline", commands: [command], negated: false };
  return { type: "Statement", pipelines: [pipeline], operators: [], background: false, live };
}

export class Traps {
  #live;
  #handlers = new WeakMap();

  constructor(live) {
    this.#live = live;
  }

  get command() {
    return { name: "trap", execute: async (args) => this.#trap(args[0] === "--" ? args.slice(1) : args) };
  }

  #trap(args) {
    const interpreter = this.#live.interpreter;
    const handler = this.#handlers.get(interpreter);
    if (args.length === 0 || args[0] === "-p") {
      return handler === undefined ? NO_OUTPUT : { ...NO_OUTPUT, stdout: `trap -- '${handler.replaceAll("'", "'\\''")}' EXIT\n` };
    }
    const [action, ...events] = args.length === 1 ? ["-", args[0]] : args;
    if (!events.some((event) => event === "0" || /^(SIG)?EXIT$/i.test(event))) return NO_OUTPUT;
    if (action === "-" || action === "") this.#handlers.delete(interpreter);
    else this.#handlers.set(interpreter, action);
    return NO_OUTPUT;
  }

  /** Runs a script, and after it the trap on EXIT that it may have set. */
  async run(interpreter, script) {
    const first = await this.#finish(interpreter, script);
    const handler = this.#handlers.get(interpreter);
    if (handler === undefined) {
      if (first.exit) throw first.exit;
      return first.result;
    }
    this.#handlers.delete(interpreter);
    const { state } = interpreter.ctx;
    state.lastExitCode = first.result.exitCode;
    state.env.set("?", String(first.result.exitCode));
    const statements = [evalStatement(handler, script.statements[0]?.live)];
    const second = await this.#finish(interpreter, { type: "Script", statements });
    return {
      stdout: first.result.stdout + second.result.stdout,
      stderr: first.result.stderr + second.result.stderr,
      exitCode: (second.exit ?? first.result).exitCode,
      env: first.result.env ?? second.result.env ?? {},
    };
  }

  async #finish(interpreter, script) {
    try {
      return { result: await interpreter.executeScript(script) };
    } catch (error) {
      if (error.name !== "ExitError") throw error;
      return { exit: error, result: { stdout: error.stdout, stderr: error.stderr, exitCode: error.exitCode } };
    }
  }
}
