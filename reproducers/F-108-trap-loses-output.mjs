// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// A guest prints a line, then ends, or traps if it has been given input. Runs it both ways with check: false.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")
//   (drop (call $fd_write (i32.const 1) (; "hello\n" ;) (i32.const 0) (i32.const 1) (i32.const 64)))
//   (drop (call $fd_read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 64)))
//   (if (i32.load (i32.const 64)) (then (unreachable))))
const GUEST = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002440216776173695f736e617073686f745f70726576696577310866645f" +
  "7772697465000016776173695f736e617073686f745f70726576696577310766645f726561640000030201010503010001071302" +
  "066d656d6f72790200065f737461727400020a2601240041014100410141c00010001a41004110410141c00010011a41c0002802" +
  "000440000b0b0b1b010041000b15080000000600000068656c6c6f0a00004400000001000e046e616d65010702000177010172", "hex");

const client = new Wasmer({ cache: "memory" });
const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
for (const [name, stdin] of [["no trap", ""], ["trap", "x"]]) {
  const outcome = await sandbox.command("main").run({ stdin, check: false }).then(
    output => `an output, ok ${output.ok}, stdout: ${output.stdout.text().trim()}`,
    error => `rejected, ${error.name} ${error.code}, output: ${error.output?.stdout.text().trim() ?? "none"}`);
  console.log(`${name}: ${outcome}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
