// The sandbox's shared folder as a file system of just-bash.
import * as std from "qjs:std";
import * as os from "qjs:os";
import { decode, encode, fromLatin1, toLatin1 } from "./text.mjs";

// WASI's numbers.
const ERRORS = new Map([
  [2, ["EACCES", "permission denied"]],
  [20, ["EEXIST", "file already exists"]],
  [28, ["EINVAL", "invalid argument"]],
  [31, ["EISDIR", "illegal operation on a directory"]],
  [44, ["ENOENT", "no such file or directory"]],
  [51, ["ENOSPC", "no space left on device"]],
  [54, ["ENOTDIR", "not a directory"]],
  [55, ["ENOTEMPTY", "directory not empty"]],
  [63, ["EPERM", "operation not permitted"]],
  [75, ["EXDEV", "cross-device link not permitted"]],
]);
const [EEXIST, EINVAL, EISDIR, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY, EPERM] = [20, 28, 31, 44, 51, 54, 55, 63];

function failure(number, call, path) {
  const [code, text] = ERRORS.get(Math.abs(number)) ?? ["EIO", `error ${number}`];
  return Object.assign(new Error(`${code}: ${text}, ${call} '${path}'`), { code });
}

function encodingOf(options) {
  return typeof options === "string" ? options : options?.encoding;
}

/** Bytes to be written. What is said to be bytes, one a character, but has others in it is text after all. */
export function contentBytes(content, options) {
  if (typeof content !== "string") return content;
  const encoding = encodingOf(options);
  if (encoding === "base64") return fromLatin1(atob(content));
  if (encoding === "hex") return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const bytes = encoding === "binary" || encoding === "latin1";
  return bytes && !/[^\0-\xff]/.test(content) ? fromLatin1(content) : encode(content);
}

export function contentText(bytes, options) {
  const encoding = encodingOf(options);
  if (encoding === "binary" || encoding === "latin1") return toLatin1(bytes);
  if (encoding === "base64") return btoa(toLatin1(bytes));
  if (encoding === "hex") return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return decode(bytes);
}

function normalize(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

function parent(path) {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export class Workspace {
  #root;
  #removeTree;
  // The folder keeps neither modes nor times that are set, so they are remembered here. `modes` outlives the shell if
  // the host wants it to: see main.mjs.
  #modes;
  #times = new Map();
  modesChanged = false;

  /**
   * @param root absolute path of the folder
   * @param modes permission bits by absolute path
   * @param removeTree removes a directory and what is in it, and says whether it could; or null
   */
  constructor(root, modes, removeTree) {
    this.#root = root;
    this.#modes = new Map(Object.entries(modes));
    this.#removeTree = removeTree;
  }

  get modes() {
    return Object.fromEntries(this.#modes);
  }

  /** The absolute path of what just-bash calls `path`, which counts from the folder. */
  #real(path) {
    const inside = normalize(path);
    return inside === "/" ? this.#root : this.#root + inside;
  }

  #look(real) {
    const [found, error] = os.stat(real);
    return error === 0 ? found : null;
  }

  #isDirectory(real) {
    const found = this.#look(real);
    return found !== null && (found.mode & os.S_IFMT) === os.S_IFDIR;
  }

  // The guest remembers names that somebody else removed (a program that the shell ran, or the host): stat() knows
  // better, and a remove() in vain makes it forget.
  #forgetStale(real) {
    if (this.#look(real) === null) os.remove(real);
  }

  #open(real, how, call) {
    const status = {};
    let file = std.open(real, how, status);
    if (file === null && how !== "rb") {
      this.#forgetStale(real);
      file = std.open(real, how, status);
    }
    if (file === null) throw failure(status.errno, call, real);
    return file;
  }

  #names(real) {
    const [names, error] = os.readdir(real);
    if (error !== 0) throw failure(error, "scandir", real);
    const found = [];
    for (const name of new Set(names)) {
      if (name === "." || name === "..") continue;
      if (this.#look(`${real}/${name}`) === null) os.remove(`${real}/${name}`);
      else found.push(name);
    }
    return found.sort();
  }

  #startsWithShebang(real) {
    const file = std.open(real, "rb");
    if (file === null) return false;
    const start = new Uint8Array(2);
    const count = file.read(start.buffer, 0, 2);
    file.close();
    return count === 2 && start[0] === 0x23 && start[1] === 0x21;
  }

  async readFileBuffer(path) {
    const real = this.#real(path);
    const found = this.#look(real);
    if (found === null) throw failure(ENOENT, "open", real);
    if ((found.mode & os.S_IFMT) === os.S_IFDIR) throw failure(EISDIR, "read", real);
    const bytes = std.loadFile(real, { binary: true });
    if (bytes === null) throw failure(ENOENT, "open", real);
    return bytes;
  }

  async readFile(path, options) {
    return contentText(await this.readFileBuffer(path), options);
  }

  async readFileBytes(path) {
    return toLatin1(await this.readFileBuffer(path));
  }

  #write(path, content, options, how) {
    const real = this.#real(path);
    const bytes = contentBytes(content, options);
    const file = this.#open(real, how, "open");
    const written = bytes.length === 0 ? 0 : file.write(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const closed = file.close();
    if (written !== bytes.length || closed < 0) throw failure(ENOSPC, "write", real);
    this.#times.delete(real);
  }

  async writeFile(path, content, options) {
    this.#write(path, content, options, "wb");
  }

  async appendFile(path, content, options) {
    this.#write(path, content, options, "ab");
  }

  async exists(path) {
    return this.#look(this.#real(path)) !== null;
  }

  async stat(path) {
    const real = this.#real(path);
    const found = this.#look(real);
    if (found === null) throw failure(ENOENT, "stat", real);
    const isDirectory = (found.mode & os.S_IFMT) === os.S_IFDIR;
    const times = this.#times.get(real);
    const mtime = times?.was === found.mtime ? times.is : found.mtime;
    const usual = isDirectory || this.#startsWithShebang(real) ? 0o755 : 0o644;
    return {
      isFile: !isDirectory,
      isDirectory,
      isSymbolicLink: false,
      mode: this.#modes.get(real) ?? usual,
      size: isDirectory ? 0 : found.size,
      mtime: new Date(mtime),
      identity: real, // there are no links
    };
  }

  async lstat(path) {
    return this.stat(path);
  }

  async mkdir(path, options) {
    const real = this.#real(path);
    if (real === this.#root) {
      if (options?.recursive) return;
      throw failure(EEXIST, "mkdir", real);
    }
    const above = parent(normalize(path));
    if (!this.#isDirectory(this.#real(above))) {
      if (!options?.recursive) throw failure(this.#look(this.#real(above)) ? ENOTDIR : ENOENT, "mkdir", real);
      await this.mkdir(above, options);
    }
    if (this.#look(real) !== null) {
      if (options?.recursive && this.#isDirectory(real)) return;
      throw failure(EEXIST, "mkdir", real);
    }
    let result = os.mkdir(real);
    if (-result === EEXIST) {
      this.#forgetStale(real);
      result = os.mkdir(real);
    }
    if (result !== 0) throw failure(result, "mkdir", real);
  }

  async readdir(path) {
    return (await this.readdirWithFileTypes(path)).map((entry) => entry.name);
  }

  async readdirWithFileTypes(path) {
    const real = this.#real(path);
    if (this.#look(real) === null) throw failure(ENOENT, "scandir", real);
    if (!this.#isDirectory(real)) throw failure(ENOTDIR, "scandir", real);
    return this.#names(real).map((name) => {
      const isDirectory = this.#isDirectory(`${real}/${name}`);
      return { name, isFile: !isDirectory, isDirectory, isSymbolicLink: false };
    });
  }

  #forgetTree(real) {
    for (const remembered of [this.#modes, this.#times]) {
      for (const path of [...remembered.keys()]) {
        if (path === real || path.startsWith(`${real}/`)) remembered.delete(path);
      }
    }
  }

  #removeDirectory(real) {
    if (this.#removeTree === null || !this.#removeTree(real)) throw failure(EPERM, "rmdir", real);
    os.remove(real); // in vain, see #forgetStale
    this.#forgetTree(real);
  }

  async rm(path, options) {
    const real = this.#real(path);
    if (this.#look(real) === null) {
      if (options?.force) return;
      throw failure(ENOENT, "rm", real);
    }
    if (!this.#isDirectory(real)) {
      const result = os.remove(real);
      if (result !== 0) throw failure(result, "rm", real);
      this.#forgetTree(real);
      return;
    }
    if (!options?.recursive && this.#names(real).length > 0) throw failure(ENOTEMPTY, "rm", real);
    this.#removeDirectory(real);
  }

  async cp(source, target, options) {
    const from = this.#real(source);
    const to = this.#real(target);
    if (!this.#isDirectory(from)) {
      await this.writeFile(target, await this.readFileBuffer(source));
      this.#copyMode(from, to);
      return;
    }
    if (!options?.recursive) throw failure(EISDIR, "cp", from);
    if (to === from || to.startsWith(`${from}/`)) throw failure(EINVAL, "cp", to);
    await this.mkdir(target, { recursive: true });
    for (const name of this.#names(from)) await this.cp(`${source}/${name}`, `${target}/${name}`, options);
    this.#copyMode(from, to);
  }

  #copyMode(from, to) {
    const mode = this.#modes.get(from);
    if (mode === undefined) this.#modes.delete(to);
    else this.#modes.set(to, mode);
    if (mode !== undefined) this.modesChanged = true;
  }

  // rename() of the guest leaves two entries of one name where the target exists and is of the other kind, so every
  // case is decided here.
  async mv(source, target) {
    const from = this.#real(source);
    const to = this.#real(target);
    if (this.#look(from) === null) throw failure(ENOENT, "mv", from);
    if (from === to) return;
    const directory = this.#isDirectory(from);
    if (directory && to.startsWith(`${from}/`)) throw failure(EINVAL, "mv", to);
    if (!this.#isDirectory(parent(to))) throw failure(ENOENT, "mv", to);
    if (this.#look(to) === null) os.remove(to);
    else if (this.#isDirectory(to)) {
      if (!directory) throw failure(EISDIR, "mv", to);
      if (this.#names(to).length > 0) throw failure(ENOTEMPTY, "mv", to);
      this.#removeDirectory(to);
    } else if (directory) throw failure(ENOTDIR, "mv", to);
    const result = os.rename(from, to);
    if (result !== 0) throw failure(result, "mv", from);
    this.#forgetTree(to);
    for (const remembered of [this.#modes, this.#times]) {
      for (const [path, value] of [...remembered]) {
        if (path !== from && !path.startsWith(`${from}/`)) continue;
        remembered.delete(path);
        remembered.set(to + path.slice(from.length), value);
      }
    }
    this.modesChanged = true;
  }

  resolvePath(base, path) {
    return normalize(path.startsWith("/") ? path : `${base}/${path}`);
  }

  getAllPaths() {
    return [];
  }

  async chmod(path, mode) {
    const real = this.#real(path);
    if (this.#look(real) === null) throw failure(ENOENT, "chmod", real);
    this.#modes.set(real, mode & 0o7777);
    this.modesChanged = true;
  }

  async symlink(target, path) {
    throw failure(EPERM, "symlink", this.#real(path));
  }

  async link(existing, path) {
    throw failure(EPERM, "link", this.#real(path));
  }

  async readlink(path) {
    const real = this.#real(path);
    throw failure(this.#look(real) === null ? ENOENT : EINVAL, "readlink", real);
  }

  async realpath(path) {
    const real = this.#real(path);
    if (this.#look(real) === null) throw failure(ENOENT, "realpath", real);
    return normalize(path);
  }

  async utimes(path, _atime, mtime) {
    const real = this.#real(path);
    const found = this.#look(real);
    if (found === null) throw failure(ENOENT, "utimes", real);
    this.#times.set(real, { was: found.mtime, is: +mtime });
  }
}
