// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Gives a guest an environment variable, first as a string, then as a number, then as a string: in a child process.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")                                           ;; prints its environment
//   (drop (call $environ_sizes_get (i32.const 0) (i32.const 4)))
//   (drop (call $environ_get (i32.const 4096) (i32.const 16384)))
//   (i32.store (i32.const 0) (i32.const 16384))
//   (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 12))))
const GUEST = Buffer.from(
  "0061736d0100000001120360047f7f7f7f017f60027f7f017f60000002730316776173695f736e617073686f745f707265766965" +
  "77310866645f7772697465000016776173695f736e617073686f745f707265766965773111656e7669726f6e5f73697a65735f67" +
  "6574000116776173695f736e617073686f745f70726576696577310b656e7669726f6e5f67657400010302010205030100020713" +
  "02066d656d6f72790200065f737461727400030a290127004100410410011a4180204180800110021a4100418080013602004101" +
  "41004101410c10001a0b0011046e616d65010a03000177010173020167", "hex");

if (!process.env.CHILD) {
  const options = { env: { ...process.env, CHILD: "1" }, timeout: 10000, killSignal: "SIGKILL", encoding: "utf8" };
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], options);
  process.stdout.write(child.stdout);
  const hangs = child.error?.code === "ETIMEDOUT";
  console.log(hangs ? "the process hangs: killed after 10.0 s" : `the process ended, exit code ${child.status}`);
} else {
  const client = new Wasmer({ cache: "memory" });
  const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
  for (const env of [{ A: "one" }, { A: 1 }, { A: "two" }]) {
    setTimeout(() => console.log("a timer fired, the run has not ended"), 5000).unref();
    const outcome = await sandbox.command("main", [], { env }).run()
      .then(output => output.stdout.text().replaceAll("\0", ""), error => `${error.name}: ${error.message}`);
    console.log(`env ${JSON.stringify(env)}: ${outcome}`);
  }
  process.exit(0);
}
