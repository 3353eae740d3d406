// The tree that the shell sees: its own bin, dev, proc and tmp in memory, and the shared folder mounted in it.
import { InMemoryFs, MountableFs } from "just-bash/browser";
import { contentText } from "./workspace.mjs";
import { toLatin1 } from "./text.mjs";

// A device has no end, but a file of just-bash is read whole. This is enough for `tr -dc a-z </dev/urandom | head -c 20`.
let deviceBytes = 262144;

/** Does some work to which a device has at least so many bytes. */
export async function withDeviceOf(bytes, work) {
  const before = deviceBytes;
  deviceBytes = Math.max(before, bytes);
  try {
    return await work();
  } finally {
    deviceBytes = before;
  }
}

const DEVICES = new Map([
  ["/dev/null", () => new Uint8Array(0)],
  ["/dev/zero", () => new Uint8Array(deviceBytes)],
  ["/dev/urandom", random],
  ["/dev/random", random],
]);

function random() {
  const bytes = new Uint8Array(deviceBytes);
  for (let at = 0; at < bytes.length; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
}

export class Root extends MountableFs {
  #memory;

  constructor(mountPoint, mounted) {
    const memory = new InMemoryFs();
    super({ base: memory });
    this.#memory = memory;
    memory.mkdirSync("/tmp", { recursive: true });
    memory.writeFileSync("/dev/urandom", "");
    memory.writeFileSync("/dev/random", "");
    this.mount(mountPoint, mounted);
  }

  // just-bash lays out bin, dev and proc through these three where they exist.
  mkdirSync(path, options) {
    this.#memory.mkdirSync(path, options);
  }

  writeFileSync(path, content) {
    this.#memory.writeFileSync(path, content);
    if (path.includes("/bin/")) this.#memory.chmod(path, 0o755);
  }

  writeFileLazy(path, content) {
    this.#memory.writeFileLazy(path, content);
  }

  async readdirWithFileTypes(path) {
    const entries = [];
    for (const name of await this.readdir(path)) {
      const { isFile, isDirectory, isSymbolicLink } = await this.lstat(`${path === "/" ? "" : path}/${name}`);
      entries.push({ name, isFile, isDirectory, isSymbolicLink });
    }
    return entries;
  }

  async readFileBuffer(path) {
    const device = DEVICES.get(path);
    return device ? device() : super.readFileBuffer(path);
  }

  async readFileBytes(path) {
    return DEVICES.has(path) ? toLatin1(await this.readFileBuffer(path)) : super.readFileBytes(path);
  }

  async readFile(path, options) {
    return DEVICES.has(path) ? contentText(await this.readFileBuffer(path), options) : super.readFile(path, options);
  }

  async writeFile(path, content, options) {
    if (!DEVICES.has(path)) await super.writeFile(path, content, options);
  }

  async appendFile(path, content, options) {
    if (!DEVICES.has(path)) await super.appendFile(path, content, options);
  }
}
