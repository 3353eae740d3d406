// TextEncoder and TextDecoder that lose no byte.
//
// A shell's data are bytes, but just-bash keeps them in strings that it decodes and encodes at every boundary. A
// standard decoder would turn a byte that is no UTF-8 into U+FFFD for good. As Python's "surrogateescape" does, such a
// byte b is decoded to the lone surrogate U+DC00 + b, and the encoder turns that back into the byte. So a decoder never
// fails, even if told to be `fatal`, and a byte order mark is kept.

const CHUNK = 8192;

/** A string of the given UTF-16 code units, or bytes. */
function fromUnits(units) {
  let text = "";
  for (let at = 0; at < units.length; at += CHUNK) {
    text += String.fromCharCode.apply(null, units.subarray(at, at + CHUNK));
  }
  return text;
}

function continuation(byte) {
  return (byte & 0xc0) === 0x80;
}

/** How many bytes the well-formed sequence at `at` has; 0 where there is none (overlong, surrogate, cut short). */
function sequence(bytes, at) {
  const first = bytes[at];
  const second = bytes[at + 1];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !continuation(second)) return 0;
  if (first < 0xe0) return 2;
  if (!continuation(bytes[at + 2])) return 0;
  if (first < 0xf0) {
    return (first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f) ? 0 : 3;
  }
  if (!continuation(bytes[at + 3])) return 0;
  return (first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f) ? 0 : 4;
}

export function decode(bytes) {
  let at = 0;
  while (at < bytes.length && bytes[at] < 0x80) at += 1;
  if (at === bytes.length) return fromUnits(bytes);
  const units = new Uint16Array(bytes.length);
  units.set(bytes.subarray(0, at));
  let size = at;
  while (at < bytes.length) {
    const first = bytes[at];
    if (first < 0x80) {
      units[size++] = first;
      at += 1;
      continue;
    }
    const length = sequence(bytes, at);
    if (length === 0) units[size++] = 0xdc00 + first;
    else if (length === 2) units[size++] = ((first & 0x1f) << 6) | (bytes[at + 1] & 0x3f);
    else if (length === 3) {
      units[size++] = ((first & 0x0f) << 12) | ((bytes[at + 1] & 0x3f) << 6) | (bytes[at + 2] & 0x3f);
    } else {
      const high = ((first & 0x07) << 18) | ((bytes[at + 1] & 0x3f) << 12);
      const code = (high | ((bytes[at + 2] & 0x3f) << 6) | (bytes[at + 3] & 0x3f)) - 0x10000;
      units[size++] = 0xd800 + (code >> 10);
      units[size++] = 0xdc00 + (code & 0x3ff);
    }
    at += length || 1;
  }
  return fromUnits(units.subarray(0, size));
}

export function encode(text) {
  const bytes = new Uint8Array(text.length * 3);
  let size = 0;
  for (let at = 0; at < text.length; at += 1) {
    let code = text.charCodeAt(at);
    if (code < 0x80) {
      bytes[size++] = code;
      continue;
    }
    if (code < 0x800) {
      bytes[size++] = 0xc0 | (code >> 6);
      bytes[size++] = 0x80 | (code & 0x3f);
      continue;
    }
    if (code >= 0xd800 && code < 0xdc00) {
      const low = text.charCodeAt(at + 1);
      if (low >= 0xdc00 && low < 0xe000) {
        at += 1;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        bytes[size++] = 0xf0 | (code >> 18);
        bytes[size++] = 0x80 | ((code >> 12) & 0x3f);
        bytes[size++] = 0x80 | ((code >> 6) & 0x3f);
        bytes[size++] = 0x80 | (code & 0x3f);
        continue;
      }
      code = 0xfffd;
    } else if (code >= 0xdc80 && code <= 0xdcff) {
      bytes[size++] = code - 0xdc00;
      continue;
    } else if (code >= 0xdc00 && code < 0xe000) {
      code = 0xfffd;
    }
    bytes[size++] = 0xe0 | (code >> 12);
    bytes[size++] = 0x80 | ((code >> 6) & 0x3f);
    bytes[size++] = 0x80 | (code & 0x3f);
  }
  return bytes.slice(0, size);
}

/** One character for each byte, the form in which just-bash passes bytes on. */
export function toLatin1(bytes) {
  return fromUnits(bytes);
}

export function fromLatin1(text) {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export class TextEncoder {
  get encoding() {
    return "utf-8";
  }

  encode(text = "") {
    return encode(String(text));
  }
}

const NAMES = new Map([
  ["utf-8", "utf-8"],
  ["utf8", "utf-8"],
  ["latin1", "latin1"],
  ["iso-8859-1", "latin1"],
  ["ascii", "latin1"],
  ["us-ascii", "latin1"],
  ["utf-16", "utf-16le"],
  ["utf-16le", "utf-16le"],
]);

export class TextDecoder {
  #kept = new Uint8Array(0);

  constructor(label = "utf-8", options = {}) {
    const encoding = NAMES.get(String(label).trim().toLowerCase());
    if (encoding === undefined) throw new RangeError(`The encoding '${label}' is not known here`);
    this.encoding = encoding;
    this.fatal = Boolean(options.fatal);
    this.ignoreBOM = Boolean(options.ignoreBOM);
  }

  decode(input = new Uint8Array(0), options = {}) {
    let bytes = input instanceof Uint8Array ? input : new Uint8Array(input.buffer ?? input, input.byteOffset ?? 0, input.byteLength);
    if (this.encoding === "latin1") return fromUnits(bytes);
    if (this.#kept.length > 0) {
      const whole = new Uint8Array(this.#kept.length + bytes.length);
      whole.set(this.#kept);
      whole.set(bytes, this.#kept.length);
      bytes = whole;
    }
    const cut = options.stream ? this.#incomplete(bytes) : bytes.length;
    this.#kept = bytes.slice(cut);
    bytes = bytes.subarray(0, cut);
    return this.encoding === "utf-8" ? decode(bytes) : utf16(bytes);
  }

  #incomplete(bytes) {
    if (this.encoding === "utf-16le") return bytes.length & ~1;
    for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
      const byte = bytes[bytes.length - back];
      if (continuation(byte)) continue;
      const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
      return wanted > back ? bytes.length - back : bytes.length;
    }
    return bytes.length;
  }
}

function utf16(bytes) {
  let text = "";
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(bytes[at] | (bytes[at + 1] << 8));
  return text;
}
