// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// A guest sets the size of a file of its own, to 1 MiB and then to 2 GiB: in a child process.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")                              ;; at 16: the wanted size, read from stdin
//   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 40)))
//   (if (call $path_open (i32.const 3) (i32.const 0) (; "workspace/file" ;) ... (; O_CREAT ;) ... (i32.const 40))
//     (then (call $proc_exit (i32.const 99))))
//   (call $proc_exit (call $fd_filestat_set_size (i32.load (i32.const 40)) (i64.load (i32.const 16)))))
const GUEST = Buffer.from(
  "0061736d0100000001230560097f7f7f7f7f7e7e7f7f017f60027f7e017f60047f7f7f7f017f60017f0060000002960104167761" +
  "73695f736e617073686f745f707265766965773109706174685f6f70656e000016776173695f736e617073686f745f7072657669" +
  "6577311466645f66696c65737461745f7365745f73697a65000116776173695f736e617073686f745f7072657669657731076664" +
  "5f72656164000216776173695f736e617073686f745f70726576696577310970726f635f65786974000303020104050301000107" +
  "1302066d656d6f72790200065f737461727400040a39013700410041004101412810021a410341004118410e4101427f427f4100" +
  "41281000044041e30010030b41282802004110290300100110030b0b2d020041000b141000000008000000000000000000000000" +
  "0000800041180b0e776f726b73706163652f66696c650014046e616d65010d0400016f010174020172030178", "hex");

if (!process.env.CHILD) {
  const options = { env: { ...process.env, CHILD: "1" }, timeout: 10000, killSignal: "SIGKILL", encoding: "utf8" };
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], options);
  process.stdout.write(child.stdout);
  const hangs = child.error?.code === "ETIMEDOUT";
  console.log(hangs ? "the process hangs: killed after 10.0 s" : `the process ended, exit code ${child.status}`);
} else {
  const client = new Wasmer({ cache: "memory" });
  const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
  for (const [name, size] of [["1 MiB", 1n << 20n], ["2 GiB", 1n << 31n], ["1 MiB", 1n << 20n]]) {
    setTimeout(() => console.log("a timer fired, the run has not ended"), 5000).unref();
    const stdin = new Uint8Array(BigUint64Array.of(size).buffer);
    const outcome = await sandbox.command("main").run({ stdin, check: false })
      .then(output => `errno ${output.exitCode}`, error => `${error.name}: ${error.message.split("\n")[0]}`);
    console.log(`${name}: ${outcome}`);
  }
  process.exit(0);
}
