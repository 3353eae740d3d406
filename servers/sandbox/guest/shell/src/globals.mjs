// What a browser's global scope has and QuickJS lacks. Import this first: just-bash takes some of them while it loads.
import * as std from "qjs:std";
import * as os from "qjs:os";
import "core-js/actual/atob";
import "core-js/actual/btoa";
import "core-js/actual/url";
import "core-js/actual/url-search-params";
import "core-js/actual/structured-clone";
import { AbortController, AbortSignal } from "abortcontroller-polyfill/dist/cjs-ponyfill.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { TextDecoder, TextEncoder } from "./text.mjs";

const QUOTA = 65536;

/** Fills a typed array from the guest's entropy source. */
function getRandomValues(array) {
  if (array.byteLength > QUOTA) throw new DOMException(`More than ${QUOTA} bytes of entropy asked for`, "QuotaExceededError");
  const source = std.open("/dev/urandom", "rb");
  if (source === null) throw new Error("This system has no /dev/urandom");
  const bytes = new Uint8Array(array.byteLength);
  const count = source.read(bytes.buffer, 0, bytes.length);
  source.close();
  if (count !== bytes.length) throw new Error("/dev/urandom was cut short");
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
  return array;
}

function randomUUID() {
  const bytes = getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

const HASHES = { "SHA-1": sha1, "SHA-256": sha256, "SHA-384": sha384, "SHA-512": sha512 };

async function digest(algorithm, data) {
  const hash = HASHES[String(algorithm.name ?? algorithm).toUpperCase()];
  if (hash === undefined) throw new DOMException(`${algorithm} is not known here`, "NotSupportedError");
  const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  return hash(bytes).buffer;
}

function define(values) {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  }
}

define({
  AbortController,
  AbortSignal,
  TextDecoder,
  TextEncoder,
  crypto: { getRandomValues, randomUUID, subtle: { digest } },
  setTimeout: (work, delay = 0, ...args) => os.setTimeout(() => work(...args), delay),
  clearTimeout: (timer) => {
    if (timer !== undefined && timer !== null) os.clearTimeout(timer);
  },
  setInterval: (work, delay = 0, ...args) => os.setInterval(() => work(...args), delay),
  clearInterval: (timer) => {
    if (timer !== undefined && timer !== null) os.clearInterval(timer);
  },
});
