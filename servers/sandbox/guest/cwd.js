os.chdir(std.getenv("SANDBOX_CWD"));
std.unsetenv("SANDBOX_CWD");
// What every other JavaScript has: QuickJS knows console.log alone, to which all objects are alike, and keeps timers in `os`.
{
  const { log } = console, { evalScript, loadFile } = std;
  let inspect; // Read at its first use, as most programs print text.
  const text = (one) => typeof one !== "object" || one === null ? String(one) : (inspect ??= evalScript(loadFile("/opt/sandbox/inspect.js")))(one);
  console.log = console.info = console.debug = (...args) => log(...args.map(text));
  console.warn = console.error = (...args) => { std.err.puts(args.map(text).join(" ") + "\n"); std.err.flush(); };
}
for (const name of ["setTimeout", "clearTimeout", "setInterval", "clearInterval"]) globalThis[name] = os[name];
