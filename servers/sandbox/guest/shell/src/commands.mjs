// Commands that just-bash lacks or has only the outline of.
import { withDeviceOf } from "./root.mjs";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const HALF_A_YEAR_MS = 182 * 86_400_000;

function done(stdout, stderr = "", exitCode = 0) {
  return { stdout, stderr, exitCode };
}

/** Splits letters that share a dash, `-n1` or `-sd,`, where `valued` names those that take a value; "--" ends them. */
function splitOptions(args, valued) {
  const split = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    if (!/^-[A-Za-z0-9]/.test(arg) || arg.length < 2) return [...split, ...args.slice(at)];
    for (let letter = 1; letter < arg.length; letter += 1) {
      split.push(`-${arg[letter]}`);
      if (!valued.includes(arg[letter])) continue;
      const value = arg.slice(letter + 1) || args[++at];
      if (value !== undefined) split.push(value);
      break;
    }
  }
  return split;
}

/** A command of just-bash that takes each option by itself only. */
function withSplitOptions(name, valued) {
  return { name, execute: (args, context) => context.origCommand(splitOptions(args, valued)) };
}

async function paste(args, context) {
  const split = splitOptions(args, "d");
  const options = /^-[sz]$/;
  const files = split.filter((arg, at) => !options.test(arg) && arg !== "-d" && split[at - 1] !== "-d");
  return context.origCommand(files.length > 0 ? split : [...split, "-"]);
}

function modeText({ isDirectory, isSymbolicLink, mode }) {
  const bits = [..."rwxrwxrwx"].map((letter, at) => (mode & (0o400 >> at) ? letter : "-")).join("");
  return (isSymbolicLink ? "l" : isDirectory ? "d" : "-") + bits;
}

function timeText(time, now) {
  const day = `${MONTHS[time.getMonth()]} ${String(time.getDate()).padStart(2)}`;
  const recent = Math.abs(now - time.getTime()) < HALF_A_YEAR_MS;
  const clock = `${String(time.getHours()).padStart(2, "0")}:${String(time.getMinutes()).padStart(2, "0")}`;
  return `${day} ${recent ? clock : String(time.getFullYear()).padStart(5)}`;
}

function sizeText(size, human) {
  if (!human || size < 1024) return String(size);
  let unit = -1;
  let rest = size;
  for (; rest >= 1024 && unit < 4; unit += 1) rest /= 1024;
  return (rest < 10 ? (Math.ceil(rest * 10) / 10).toFixed(1) : String(Math.ceil(rest))) + "KMGTP"[unit];
}

const LS_LETTERS = new Set("laA1RtSrhdFpgonNCmxcuUisbkHLGQvX");

class Listing {
  #context;
  #flags;
  #now = Date.now();

  constructor(context, flags) {
    this.#context = context;
    this.#flags = flags;
  }

  async entry(name, path) {
    const { fs } = this.#context;
    const stat = await fs.lstat(path);
    const target = stat.isSymbolicLink ? await fs.readlink(path) : null;
    return { name, path, stat, target };
  }

  #has(letter) {
    return this.#flags.has(letter);
  }

  sort(entries) {
    const byName = (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name));
    const order = this.#has("t") ? (a, b) => b.stat.mtime - a.stat.mtime : this.#has("S") ? (a, b) => b.stat.size - a.stat.size : byName;
    if (!this.#has("U")) entries.sort((a, b) => order(a, b) || byName(a, b));
    return this.#has("r") ? entries.reverse() : entries;
  }

  #suffix({ isDirectory, isSymbolicLink, mode }) {
    if (isDirectory) return this.#has("F") || this.#has("p") ? "/" : "";
    if (!this.#has("F")) return "";
    if (isSymbolicLink) return "@";
    return mode & 0o111 ? "*" : "";
  }

  text(entries) {
    if (!["l", "g", "o", "n"].some((letter) => this.#has(letter))) {
      return entries.map(({ name, stat }) => `${name}${this.#suffix(stat)}\n`).join("");
    }
    const sizes = entries.map(({ stat }) => sizeText(stat.size, this.#has("h")));
    const width = Math.max(...sizes.map((size) => size.length));
    const owner = this.#has("n") ? "1000 1000" : "user user";
    return entries
      .map(({ name, stat, target }, at) => {
        const size = sizes[at].padStart(width);
        const end = `${name}${this.#suffix(stat)}${target === null ? "" : ` -> ${target}`}`;
        return `${modeText(stat)} 1 ${owner} ${size} ${timeText(stat.mtime, this.#now)} ${end}\n`;
      })
      .join("");
  }

  async directory(name, path, headed) {
    const { fs } = this.#context;
    const names = (await fs.readdir(path)).filter((child) => this.#has("a") || this.#has("A") || !child.startsWith("."));
    const join = (child) => `${path === "/" ? "" : path}/${child}`;
    const entries = this.sort(await Promise.all(names.map((child) => this.entry(child, join(child)))));
    const shown = [...entries];
    if (this.#has("a")) {
      shown.unshift(await this.entry(".", path), await this.entry("..", fs.resolvePath(path, "..")));
    }
    let text = headed ? `${name}:\n` : "";
    if (["l", "g", "o", "n"].some((letter) => this.#has(letter))) {
      const kilobytes = entries.reduce((sum, { stat }) => sum + Math.ceil(stat.size / 4096) * 4, 0);
      text += `total ${kilobytes}\n`;
    }
    text += this.text(shown);
    if (!this.#has("R")) return text;
    for (const { name: child, path: below, stat } of entries) {
      if (stat.isDirectory) text += `\n${await this.directory(`${name.replace(/\/+$/, "")}/${child}`, below, true)}`;
    }
    return text;
  }
}

async function ls(args, context) {
  const flags = new Set();
  const names = [];
  let ended = false;
  for (const arg of args) {
    if (ended || !arg.startsWith("-") || arg === "-") names.push(arg);
    else if (arg === "--") ended = true;
    else if (arg === "--help") return done("Usage: ls [-aAdFghlnopRrSt1] [FILE]...\n");
    else if (arg === "--all") flags.add("a");
    else if (arg === "--recursive") flags.add("R");
    else if (arg === "--directory") flags.add("d");
    else if (arg === "--human-readable") flags.add("h");
    else if (arg.startsWith("--color") || arg.startsWith("--time-style") || arg === "--group-directories-first") continue;
    else if (arg.startsWith("--")) return done("", `ls: unrecognized option '${arg}'\n`, 2);
    else {
      for (const letter of arg.slice(1)) {
        if (!LS_LETTERS.has(letter)) return done("", `ls: invalid option -- '${letter}'\n`, 2);
        flags.add(letter);
      }
    }
  }
  const listing = new Listing(context, flags);
  const files = [];
  const directories = [];
  let stderr = "";
  for (const name of names.length > 0 ? names : ["."]) {
    const path = context.fs.resolvePath(context.cwd, name);
    try {
      const { isDirectory } = await context.fs.stat(path);
      if (!isDirectory && name.endsWith("/")) stderr += `ls: cannot access '${name}': Not a directory\n`;
      else (isDirectory && !flags.has("d") ? directories : files).push(await listing.entry(name, path));
    } catch {
      stderr += `ls: cannot access '${name}': No such file or directory\n`;
    }
  }
  const parts = files.length > 0 ? [listing.text(listing.sort(files))] : [];
  const headed = names.length > 1 || flags.has("R");
  for (const { name, path } of listing.sort(directories)) parts.push(await listing.directory(name, path, headed));
  return done(parts.join("\n"), stderr, stderr ? 2 : 0);
}

async function realpath(args, context) {
  const missing = args.includes("-m");
  let stdout = "";
  let stderr = "";
  for (const name of args.filter((arg) => !/^-[emsqLP]$/.test(arg))) {
    const path = context.fs.resolvePath(context.cwd, name);
    try {
      stdout += `${await context.fs.realpath(path)}\n`;
    } catch {
      if (missing || (await context.fs.exists(context.fs.resolvePath(path, "..")))) stdout += `${path}\n`;
      else stderr += `realpath: ${name}: No such file or directory\n`;
    }
  }
  return done(stdout, stderr, stderr ? 1 : 0);
}

function randomName(length) {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  let name = "";
  while (name.length < length) {
    const [byte] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < letters.length * 4) name += letters[byte % letters.length];
  }
  return name;
}

async function mktemp(args, context) {
  const rest = splitOptions(args, "p");
  const folderAt = rest.indexOf("-p");
  const folder = folderAt < 0 ? null : rest.splice(folderAt, 2)[1];
  const template = rest.find((arg) => !arg.startsWith("-"));
  const pattern = template ?? "tmp.XXXXXXXXXX";
  const count = /X+$/.exec(pattern)?.[0].length ?? 0;
  if (count < 3) return done("", `mktemp: too few X's in template '${pattern}'\n`, 1);
  const inFolder = folder ?? (template === undefined || rest.includes("-t") ? (context.env.get("TMPDIR") ?? "/tmp") : null);
  const name = (inFolder === null ? "" : `${inFolder}/`) + pattern.slice(0, -count) + randomName(count);
  const path = context.fs.resolvePath(context.cwd, name);
  try {
    if (rest.includes("-d")) await context.fs.mkdir(path);
    else await context.fs.writeFile(path, "");
    await context.fs.chmod(path, rest.includes("-d") ? 0o700 : 0o600);
  } catch {
    return done("", `mktemp: failed to create '${name}': No such file or directory\n`, 1);
  }
  return done(`${name}\n`);
}

async function uname(args) {
  if (args.length === 0) return done("Linux\n");
  const fields = { s: "Linux", n: "localhost", r: "0", m: "wasm32", o: "GNU/Linux" };
  const letters = args.join("").replaceAll("-", "");
  return done(`${[...(letters.includes("a") ? "snrmo" : letters)].map((letter) => fields[letter] ?? "unknown").join(" ")}\n`);
}

const UNITS = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** just-bash knows no units, and `head -c 5M /dev/zero` has to find that much there. */
async function head(args, context) {
  let most = 0;
  const plain = (option) =>
    option.replace(/^(-c|--bytes=|)([0-9]+)([KMG]?)$/, (_, name, amount, unit) => {
      most = amount * UNITS[unit];
      return name + most;
    });
  const counted = args.map((arg, at) => (args[at - 1] === "-c" || /^(-c|--bytes=)/.test(arg) ? plain(arg) : arg));
  return withDeviceOf(most, () => context.origCommand(counted));
}

/** just-bash takes every refusal for that of a hard link to a folder. */
async function ln(args, context) {
  const result = await context.origCommand(args);
  const stderr = result.stderr.replace("hard link not allowed for directory", "there are no links here: use cp");
  return { ...result, stderr };
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

async function env(args, start, exported) {
  let variables = { ...exported };
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at];
    const set = /^([A-Za-z_]\w*)=(.*)$/s.exec(arg);
    if (arg === "-i" || arg === "-" || arg === "--ignore-environment") variables = {};
    else if (arg === "-u") delete variables[args[++at]];
    else if (arg.startsWith("--unset=")) delete variables[arg.slice(8)];
    else if (set) variables[set[1]] = set[2];
    else if (arg.startsWith("-") && arg !== "--") return done("", `env: invalid option '${arg}'\n`, 125);
    else if (arg !== "--") break;
  }
  if (at === args.length) return done(Object.entries(variables).map(([name, value]) => `${name}=${value}\n`).join(""));
  // PATH is how just-bash finds its own commands.
  variables.PATH ??= "/usr/bin:/bin";
  return start(args.slice(at).map(quoted).join(" "), variables);
}

/** `env`, given how a script is started: start(context, text, exported) */
export function envCommand(start) {
  return {
    name: "env",
    execute: (args, context) => env(args, (text, exported) => start(context, text, exported), context.exportedEnv),
  };
}

export const COMMANDS = [
  { name: "ls", execute: ls },
  { name: "realpath", execute: realpath },
  { name: "mktemp", execute: mktemp },
  { name: "uname", execute: uname },
  { name: "head", execute: head },
  { name: "ln", execute: ln },
  withSplitOptions("xargs", "nIPdLsEa"),
  { name: "paste", execute: paste },
];
