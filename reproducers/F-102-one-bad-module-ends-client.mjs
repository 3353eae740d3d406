// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Runs a good guest, then one whose import does not exist, then the good one again, all with one client.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")
//   (drop (call $fd_write (i32.const 1) (; "hello\n" ;) (i32.const 0) (i32.const 1) (i32.const 64))))
const GOOD = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f" +
  "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a10010e0041014100410141c00010" +
  "001a0b0b14010041000b0e080000000600000068656c6c6f0a000b046e616d65010401000177", "hex");
// (import "env" "nope" (func)) (memory (export "memory") 1) (func (export "_start") (call 0))
const BAD = Buffer.from(
  "0061736d01000000010401600000020c0103656e76046e6f70650000030201000503010001071302066d656d6f72790200065f73" +
  "7461727400010a0601040010000b", "hex");

async function run(client, guest) {
  const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(guest)] });
  const output = await sandbox.command("main").run({ check: false });
  return `exit code ${output.exitCode}, stdout: ${output.stdout.text().trim()}`;
}

async function show(what, client, guest) {
  const late = new Promise(resolve => setTimeout(resolve, 5000, "nothing after 5.0 s"));
  const outcome = run(client, guest).catch(error => `${error.name} ${error.code}`);
  console.log(`${what}: ${await Promise.race([outcome, late])}`.trim());
}

const client = new Wasmer({ cache: "memory" });
await show("the good guest", client, GOOD);
await show("the bad guest", client, BAD);
await new Promise(resolve => setTimeout(resolve, 500)); // the failure arrives a little later
await show("the good guest again", client, GOOD);
await show("the good guest, another client", new Wasmer({ cache: "memory" }), GOOD);
process.exit(0); // the SDK's worker threads keep Node alive
