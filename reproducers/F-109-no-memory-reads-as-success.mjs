// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Runs a guest that prints a line, and then one that cannot be started, as its module has no memory.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")
//   (drop (call $fd_write (i32.const 1) (; "hello\n" ;) (i32.const 0) (i32.const 1) (i32.const 64))))
const GOOD = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f" +
  "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a10010e0041014100410141c00010" +
  "001a0b0b14010041000b0e080000000600000068656c6c6f0a000b046e616d65010401000177", "hex");
// (func (export "_start"))
const NO_MEMORY = Buffer.from(
  "0061736d0100000001040160000003020100070a01065f737461727400000a040102000b", "hex");

for (const [name, guest] of [["a guest that prints", GOOD], ["a guest without memory", NO_MEMORY]]) {
  const client = new Wasmer({ cache: "memory" });
  const outcome = client.packages.load(guest)
    .then(main => client.sandboxes.create({ packages: [main] }))
    .then(sandbox => sandbox.command("main").run())
    .then(({ exitCode, ok }) => `run() resolved, exit code ${exitCode}, ok ${ok}`, error => `rejected, ${error.code}`);
  const late = new Promise(resolve => setTimeout(resolve, 5000, "nothing after 5.0 s"));
  console.log(`${name}: ${await Promise.race([outcome, late])}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
