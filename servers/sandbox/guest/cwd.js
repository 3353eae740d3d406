os.chdir(std.getenv("SANDBOX_CWD"));
std.unsetenv("SANDBOX_CWD");
// What every other JavaScript has: QuickJS knows console.log alone, and keeps timers in `os`.
console.info = console.debug = console.log;
console.warn = console.error = (...args) => { std.err.puts(args.join(" ") + "\n"); std.err.flush(); };
for (const name of ["setTimeout", "clearTimeout", "setInterval", "clearInterval"]) globalThis[name] = os[name];
