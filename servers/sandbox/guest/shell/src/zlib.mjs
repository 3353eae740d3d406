// The part of node:zlib that just-bash uses, on pako.
import { gzip, ungzip } from "pako";

export const constants = { Z_BEST_COMPRESSION: 9, Z_BEST_SPEED: 1, Z_DEFAULT_COMPRESSION: -1 };

export function gzipSync(data, { level = -1 } = {}) {
  return gzip(data, { level });
}

export function gunzipSync(data, { maxOutputLength = Number.POSITIVE_INFINITY } = {}) {
  const plain = ungzip(data);
  if (plain.length > maxOutputLength) throw new RangeError(`Cannot create a Buffer larger than ${maxOutputLength} bytes`);
  return plain;
}
