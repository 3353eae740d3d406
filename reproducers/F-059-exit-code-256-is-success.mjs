// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// A guest's exit code is cut to its low 8 bits: proc_exit(256) reads as success.
import * as sdk from "@wasmer/sdk/node";

// (func (export "_start")                                ;; at 8: the exit code, an i32 read from stdin
//   (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
//   (call $proc_exit (i32.load (i32.const 8))))
const GUEST = Buffer.from(
  "0061736d0100000001100360047f7f7f7f017f60017f0060000002450216776173695f736e617073686f745f7072657669657731" +
  "0766645f72656164000016776173695f736e617073686f745f70726576696577310970726f635f65786974000103020102050301" +
  "0001071302066d656d6f72790200065f737461727400020a16011400410041004101411010001a410828020010010b0b0e010041" +
  "000b080800000004000000", "hex");

let run;
if (sdk.init) { // the API up to 0.10
  await sdk.init();
  const { entrypoint } = sdk.Wasmer.fromWasm(GUEST);
  run = async stdin => (await entrypoint.run({ stdin })).wait();
} else {
  const client = new sdk.Wasmer({ cache: "memory" });
  const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
  run = stdin => sandbox.command("main").run({ stdin, check: false });
}

for (const code of [7, 256, 257, -1]) {
  const stdin = new Uint8Array(Int32Array.of(code).buffer);
  let output;
  for (let tries = 0; !output && tries < 8; tries++) // in 0.10.0 a run now and then never ends
    output = await Promise.race([run(stdin), new Promise(resolve => setTimeout(resolve, 3000))]);
  console.log(`proc_exit(${code}): exit code ${output.exitCode ?? output.code}, ok ${output.ok}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
