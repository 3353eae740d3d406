// An object as text, much as Node prints it. The value of this script is the function that does it.
(() => {
  const DEEPEST = 4; // Else a graph, in which all leads to all, would be printed along each of its paths.
  const named = (key) => (/^[\w$]+$/.test(key) ? key : JSON.stringify(key));
  const list = (items, open, close) => (items.length ? `${open} ${items.join(", ")} ${close}` : open + close);
  const pairs = (map, each) => [...map].map(([key, value]) => `${each(key)} => ${each(value)}`);

  function inspect(one, above) {
    try {
      return shown(one, above);
    } catch {
      return "[it throws when it is looked at]";
    }
  }

  function shown(one, above) {
    if (typeof one === "string") return JSON.stringify(one);
    if (typeof one === "bigint") return `${one}n`;
    if (typeof one === "function") return `[Function: ${one.name || "(anonymous)"}]`;
    if (one === null || typeof one !== "object" || one instanceof RegExp) return String(one);
    if (one instanceof Error) return `${one}\n${one.stack ?? ""}`.trimEnd();
    if (one instanceof Date) return one.toJSON() ?? "Invalid Date";
    if (above.includes(one)) return "[Circular]";
    const name = one.constructor?.name ?? "";
    if (above.length > DEEPEST) return `[${name || "Object"}]`;
    const each = (item) => inspect(item, [...above, one]);
    const titled = (text) => (name === "" || name === "Object" ? text : `${name} ${text}`);
    if (Array.isArray(one)) return list(Array.from(one, each), "[", "]");
    if (ArrayBuffer.isView(one) && !(one instanceof DataView)) return titled(list(Array.from(one, each), "[", "]"));
    if (one instanceof Map) return titled(list(pairs(one, each), "{", "}"));
    if (one instanceof Set) return titled(list([...one].map(each), "{", "}"));
    return titled(list(Object.entries(one).map(([key, value]) => `${named(key)}: ${each(value)}`), "{", "}"));
  }

  return (one) => inspect(one, []);
})();
