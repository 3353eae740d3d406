// The conversation with the host: one JSON object a line, stdin in, stdout out.
import * as std from "qjs:std";
import { fromByteArray, toByteArray } from "base64-js";

function write(message) {
  std.out.puts(`${JSON.stringify(message)}\n`);
  std.out.flush();
}

function read() {
  const line = std.in.getline();
  if (line === null) throw new Error("The host hung up");
  return JSON.parse(line);
}

function bytesOf(text) {
  return text ? toByteArray(text) : new Uint8Array(0);
}

/** What the host wants to be run: its first line, with `stdin` as bytes and every absent field filled in. */
export function readRequest() {
  const { argv = [], cwd = "/workspace", env = {}, stdin = "", commands = [], modes = {}, remove = false } = read();
  return { argv, cwd, env, stdin: bytesOf(stdin), commands, modes, remove };
}

export function sendOutput(stream, bytes) {
  if (bytes.length > 0) write({ type: "output", stream, data: fromByteArray(bytes) });
}

export function sendExit(exitCode, modes) {
  write({ type: "exit", exit_code: exitCode, modes });
}

let lastId = 0;

function ask(message) {
  lastId += 1;
  write({ ...message, id: lastId });
  const reply = read();
  if (reply.id !== lastId) throw new Error(`The host answered ${reply.id}, not ${lastId}`);
  return reply;
}

/** Has the host run a program to its end, for at most `time_s` if that is a number. */
export function askRun(command, args, env, cwd, stdin, time_s) {
  const reply = ask({ type: "run", command, args, env, cwd, stdin: fromByteArray(stdin), time_s });
  return { stdout: bytesOf(reply.stdout), stderr: bytesOf(reply.stderr), exitCode: reply.exit_code };
}

/** Has the host remove a directory with all that is in it. QuickJS can't: it has no rmdir(). */
export function askRemove(path) {
  return ask({ type: "remove", path, recursive: true }).exit_code === 0;
}
