// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// A guest calls poll_oneoff with a timeout of 1 ms, and then with one of 0, which should return at once.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")                              ;; at 40: the timeout in ns, read from stdin
//   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
//   (drop (call $poll_oneoff (i32.const 16) (i32.const 64) (i32.const 1) (i32.const 8))))
const GUEST = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002470216776173695f736e617073686f745f70726576696577310b706f6c" +
  "6c5f6f6e656f6666000016776173695f736e617073686f745f70726576696577310766645f726561640000030201010503010001" +
  "071302066d656d6f72790200065f737461727400020a1b011900410041004101410810011a411041c0004101410810001a0b0b14" +
  "020041000b0828000000080000000041200b0101000e046e616d65010702000170010172", "hex");

const client = new Wasmer({ cache: "memory" });
const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
for (const [name, nanoseconds] of [["1 ms", 1000000n], ["0 ms", 0n]]) {
  const stdin = new Uint8Array(BigUint64Array.of(nanoseconds).buffer);
  const reasons = [];
  for (let tries = 0; tries < 4 && !reasons.includes("exited"); tries++) // a client's first sleep often never ends
    reasons.push((await sandbox.command("main").run({ stdin, timeoutMs: 2000, check: false })).reason);
  console.log(`timeout ${name}: ${reasons.includes("exited") ? "the guest ended" : "no guest of 4 ended in 2.0 s"}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
