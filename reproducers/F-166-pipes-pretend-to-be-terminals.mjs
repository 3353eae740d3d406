// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// A guest asks what isatty() asks of its stdin, which the SDK feeds, and of the outputs, which the SDK captures.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")                                         ;; each fd_fdstat_get writes 24 bytes
//   (drop (call $fd_fdstat_get (i32.const 0) (i32.const 0)))
//   (drop (call $fd_fdstat_get (i32.const 1) (i32.const 24)))
//   (drop (call $fd_fdstat_get (i32.const 2) (i32.const 48)))
//   (drop (call $fd_read (i32.const 0) (i32.const 80) (i32.const 1) (i32.const 76)))     ;; 2 bytes, to 72
//   (drop (call $fd_write (i32.const 1) (i32.const 88) (i32.const 1) (i32.const 76))))   ;; all 74
const GUEST = Buffer.from(
  "0061736d0100000001120360027f7f017f60047f7f7f7f017f600000026b0316776173695f736e617073686f745f707265766965" +
  "77310d66645f6664737461745f676574000016776173695f736e617073686f745f70726576696577310766645f72656164000116" +
  "776173695f736e617073686f745f70726576696577310866645f77726974650001030201020503010001071302066d656d6f7279" +
  "0200065f737461727400030a330131004100410010001a4101411810001a4102413010001a410041d000410141cc0010011a4101" +
  "41d800410141cc0010021a0b0b17010041d0000b104800000002000000000000004a000000", "hex");
const CHARACTER_DEVICE = 2, SEEK = 1 << 2, TELL = 1 << 5; // of WASI's filetype and rights

const client = new Wasmer({ cache: "memory" });
const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
const answer = Buffer.from((await sandbox.command("main").run({ stdin: "42" })).stdout.bytes);
console.log(`the guest has read ${answer.toString("latin1", 72)}, all that there is on its stdin`);
for (const [number, name] of ["stdin", "stdout", "stderr"].entries()) {
  const type = answer[24 * number], rights = answer.readUInt32LE(24 * number + 8);
  const terminal = type === CHARACTER_DEVICE && !(rights & (SEEK | TELL)); // isatty() of wasi-libc
  console.log(`${name}: file type ${type}, isatty() is ${terminal}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
