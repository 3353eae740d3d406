// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Closes a client whose guest has ended by itself, and one whose guest looped until run()'s timeoutMs ended it.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start"))
const ENDS = Buffer.from(
  "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a040102000b", "hex");
// (func (export "_start") (loop (br 0)))
const LOOPS = Buffer.from(
  "0061736d01000000010401600000030201000503010001071302066d656d6f72790200065f737461727400000a0901070003400c" +
  "000b0b000d046e616d65030601000100016c", "hex");

const within = (seconds, promise) =>
  Promise.race([promise, new Promise(resolve => setTimeout(resolve, seconds * 1000))]);

for (const [name, guest] of [["a guest that ends", ENDS], ["a guest that loops", LOOPS]]) {
  let client, output;
  for (let tries = 0; !output && tries < 4; tries++) { // now and then run() does not settle, whatever its timeoutMs
    client = new Wasmer({ cache: "memory" });
    const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(guest)] });
    output = await within(4, sandbox.command("main").run({ timeoutMs: 1000, check: false }));
  }
  console.log(output ? `${name}: run() resolved, reason ${output.reason}` : `${name}: no run() of 4 has settled`);
  const closed = client.close().then(() => "resolved", error => `rejected, ${error.code}`);
  console.log(`${name}: close() ${await within(5, closed) ?? "has not settled after 5.0 s"}`);
}
process.exit(0); // the guest may still run, and would keep the process alive
