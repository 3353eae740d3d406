// Shells and programs that a script starts.
import { envCommand } from "./commands.mjs";
import { markLive } from "./live.mjs";
import { decode, fromLatin1, toLatin1 } from "./text.mjs";

const SHELLS = new Set(["sh", "bash", "dash", "ash", "zsh"]);

const ALIASES = new Map([
  ["python3", "python"],
  ["node", "js"],
]);

/** A shell's command line: which script is to be run, with what options and arguments. */
export function parseShellArgs(args, shell) {
  const options = [];
  let command = false;
  let stdin = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === "--") {
      at += 1;
      break;
    }
    if (arg.startsWith("--")) continue; // --login, --norc, --posix: nothing to do here
    if (!/^[-+][A-Za-z]+$/.test(arg)) break;
    for (const letter of arg.slice(1)) {
      if (letter === "c" && arg[0] === "-") command = true;
      else if (letter === "s" && arg[0] === "-") stdin = true;
      else if (letter === "o" || letter === "O") {
        at += 1;
        options.push(`${letter === "o" ? "set" : "shopt"} ${shellOption(letter, arg[0])} ${args[at] ?? ""}`);
      } else if (!"lir".includes(letter)) options.push(`set ${arg[0]}${letter}`);
    }
  }
  const rest = args.slice(at);
  if (command) {
    if (rest.length === 0) return { error: `${shell}: -c: option requires an argument\n`, exitCode: 2 };
    return { options, text: rest[0], name: rest[1] ?? shell, args: rest.slice(2) };
  }
  if (stdin || rest.length === 0) return { options, name: shell, args: rest, stdin: true };
  return { options, file: rest[0], name: rest[0], args: rest.slice(1) };
}

function shellOption(letter, sign) {
  if (letter === "o") return `${sign}o`;
  return sign === "-" ? "-s" : "-u";
}

/** The program and its arguments that a file's first line names; null where it is no `#!`. */
export function interpreterOf(text) {
  const line = /^#!\s*(.*)/.exec(text)?.[1]?.trim();
  if (!line) return null;
  const words = line.split(/\s+/);
  if (words[0].endsWith("/env")) {
    words.shift();
    if (words[0] === "-S") words.shift();
  }
  const [program, ...args] = words;
  return program ? { program: program.split("/").pop(), args } : null;
}

export class Scripts {
  #host;
  #live;
  /** What the host calls the program of a name. */
  #programs;
  /** Whether the next script that just-bash reads is live, and which variables its programs inherit. */
  #nextIsLive = false;
  #nextExported = null;
  /** When the innermost `timeout` is over, in the milliseconds of Date.now(). */
  #deadline = Number.POSITIVE_INFINITY;

  /**
   * @param host.run(command, args, env, cwd, stdin, time_s) runs a program outside
   * @param programs the names of such programs
   */
  constructor(host, programs, live) {
    this.#host = host;
    this.#live = live;
    this.#programs = new Map(programs.filter((name) => !SHELLS.has(name)).map((name) => [name, name]));
    for (const [alias, name] of ALIASES) {
      if (this.#programs.has(name) && !this.#programs.has(alias)) this.#programs.set(alias, name);
    }
  }

  /** What is to be added to the commands of just-bash. Inner shells need no help of the host. */
  get commands() {
    const env = envCommand((context, text, exported) => this.#inherit(context, text, exported));
    const timeout = { name: "timeout", execute: (args, context) => this.#timeout(args, context) };
    return [env, timeout, this.#shell("bash"), this.#shell("sh"), ...[...this.#programs.keys()].map((name) => this.#program(name))];
  }

  async #inherit(context, text, exported) {
    this.#nextExported = Object.keys(exported);
    const options = { env: exported, replaceEnv: true, cwd: context.cwd, signal: context.signal };
    return context.exec(text, { ...options, stdin: context.stdin, stdinKind: "bytes", rawScript: true });
  }

  /** A new interpreter's exported variables: its own list of them, with those that it was started with. */
  adopt({ ctx: { state } }) {
    state.exportedVars = new Set([...state.exportedVars, ...(this.#nextExported ?? [])]);
    this.#nextExported = null;
  }

  #program(name) {
    return {
      name,
      execute: async (args, context) => this.#run(name, args, context.exportedEnv ?? {}, context.cwd, context.stdin),
    };
  }

  // While the host runs a program no timer of ours fires: just-bash's `timeout` alone would let it run for ever.
  async #timeout(args, context) {
    const before = this.#deadline;
    this.#deadline = Math.min(before, Date.now() + timeoutMs(args));
    try {
      return await context.origCommand(args);
    } finally {
      this.#deadline = before;
    }
  }

  async #run(name, args, env, cwd, stdin) {
    const left = Number.isFinite(this.#deadline) ? Math.max(0, this.#deadline - Date.now()) / 1000 : undefined;
    const input = fromLatin1(stdin);
    const { stdout, stderr, exitCode } = this.#host.run(this.#programs.get(name), args, { ...env }, cwd, input, left);
    return { stdout: toLatin1(stdout), stdoutKind: "bytes", stdoutEncoding: "binary", stderr: decode(stderr), exitCode };
  }

  // `bash` and `sh`, which unlike those of just-bash know options and leave a script's indentation alone.
  #shell(name) {
    return {
      name,
      execute: async (args, context) => {
        if (args[0] === "--version") return { stdout: "just-bash, a shell that resembles GNU bash\n", stderr: "", exitCode: 0 };
        const direct = this.#takeDirect();
        const plan = parseShellArgs(args, name);
        if (plan.error) return { stdout: "", stderr: plan.error, exitCode: plan.exitCode };
        return this.#start(plan, {
          shell: name,
          fs: context.fs,
          cwd: context.cwd,
          env: context.exportedEnv ?? {},
          stdin: context.stdin,
          direct,
          exec: (text, options) => context.exec(text, { ...options, signal: context.signal }),
        });
      },
    };
  }

  /** The script that the host asked for. Unlike inner shells, its result may hold output that was not sent yet. */
  async main(bash, args, cwd, env, stdin) {
    const plan = parseShellArgs(args, "bash");
    if (plan.error) return { stdout: "", stderr: plan.error, exitCode: plan.exitCode };
    const exec = (text, options) => bash.exec(text, options);
    return this.#start(plan, { shell: "bash", fs: bash.fs, cwd, env, stdin: toLatin1(stdin), direct: true, exec });
  }

  #takeDirect() {
    const direct = this.#live.direct;
    this.#live.direct = false;
    return direct;
  }

  async #start(plan, start) {
    let text = plan.text;
    let stdin = start.stdin;
    if (plan.stdin) {
      text = decode(fromLatin1(stdin));
      stdin = "";
    } else if (plan.file !== undefined) {
      const path = start.fs.resolvePath(start.cwd, plan.file);
      const problem = await unreadable(start.fs, path);
      if (problem) return { stdout: "", stderr: `${start.shell}: ${plan.file}: ${problem.text}\n`, exitCode: problem.exitCode };
      text = await start.fs.readFile(path);
    }
    const options = plan.options.length > 0 ? `${plan.options.join("; ")}; ` : "";
    const positional = { 0: plan.name, "#": String(plan.args.length), "@": plan.args.join(" "), "*": plan.args.join(" ") };
    plan.args.forEach((value, index) => {
      positional[index + 1] = value;
    });
    this.#nextIsLive = start.direct;
    this.#nextExported = Object.keys(start.env);
    try {
      return await start.exec(options + text, {
        env: { ...start.env, ...positional },
        cwd: start.cwd,
        stdin,
        stdinKind: "bytes",
        rawScript: true,
      });
    } finally {
      this.#nextIsLive = false;
      this.#nextExported = null;
    }
  }

  /** A file started by its name, `./x.py`, by the interpreter that its first line asks for. */
  async userScript(context, path, args, stdin) {
    const direct = this.#takeDirect();
    const { state } = context;
    const env = {};
    for (const name of [...(state.exportedVars ?? []), ...(state.tempExportedVars ?? [])]) {
      if (state.env.has(name)) env[name] = state.env.get(name);
    }
    const input = stdin || state.groupStdin || "";
    const text = await context.fs.readFile(path);
    const interpreter = interpreterOf(text);
    if (interpreter && !SHELLS.has(interpreter.program)) {
      const name = interpreter.program;
      if (this.#programs.has(name)) return this.#run(name, [...interpreter.args, path, ...args], env, state.cwd, input);
      return { stdout: "", stderr: `bash: ${path}: ${name}: bad interpreter: No such file or directory\n`, exitCode: 126 };
    }
    const plan = parseShellArgs([...(interpreter?.args ?? []), path, ...args], "bash");
    const exec = (script, options) => context.execFn(script, { ...options, signal: state.signal }, false);
    return this.#start(plan, { shell: "bash", fs: context.fs, cwd: state.cwd, env, stdin: input, direct, exec });
  }

  /** A plugin of just-bash that sees every script before it runs. */
  get plugin() {
    return {
      name: "live",
      transform: ({ ast, metadata }) => {
        if (this.#nextIsLive) markLive(ast.statements);
        this.#nextIsLive = false;
        return { ast, metadata };
      },
    };
  }
}

/** How long `timeout` is asked to wait; for ever, if it is not asked rightly, which it then says itself. */
function timeoutMs(args) {
  const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const valued = ["-k", "--kill-after", "-s", "--signal"];
  let at = 0;
  for (; args[at]?.startsWith("-"); at += 1) if (valued.includes(args[at])) at += 1;
  const [, amount, unit] = /^([0-9]+\.?[0-9]*)([smhd]?)$/.exec(args[at] ?? "") ?? [];
  return Number(amount) > 0 ? Number(amount) * units[unit || "s"] : Number.POSITIVE_INFINITY;
}

async function unreadable(fs, path) {
  if (!(await fs.exists(path))) return { text: "No such file or directory", exitCode: 127 };
  if ((await fs.stat(path)).isDirectory) return { text: "Is a directory", exitCode: 126 };
  return null;
}
