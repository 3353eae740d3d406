// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Runs the bytes of a plain WASI module: given to Wasmer.fromWasm() up to 0.10, to packages.load() since.
import * as sdk from "@wasmer/sdk/node";

// (func (export "_start")
//   (drop (call $fd_write (i32.const 1) (; "hello" ;) (i32.const 0) (i32.const 1) (i32.const 16))))
const GUEST = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f" +
  "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a0f010d0041014100410141101000" +
  "1a0b0b14010041000b0e080000000600000068656c6c6f0a", "hex");

let text, run;
if (sdk.init) { // the API up to 0.10
  await sdk.init();
  text = await new sdk.Directory({ "note.txt": "a note" }).readTextFile("note.txt");
  const stdin = "unused"; // without one, a run takes 0.10.0 eight seconds
  run = async () => (await (await sdk.Wasmer.fromWasm(GUEST).entrypoint.run({ stdin })).wait()).stdout;
} else {
  const client = new sdk.Wasmer({ cache: "memory" });
  const { fs } = await client.sandboxes.create();
  await fs.writeText("/workspace/note.txt", "a note");
  text = await fs.readText("/workspace/note.txt");
  run = async () => {
    const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
    return (await sandbox.command("main").run()).stdout.text();
  };
}
console.log(`the SDK started, and its file system holds: ${text}`);

let outcome;
for (let tries = 0; !outcome && tries < 8; tries++) // in 0.10.0 a run now and then never ends
  outcome = await Promise.race([
    run().then(stdout => `ran, stdout: ${stdout.trim()}`, e => `refused, ${e.code}: ${e.message}`),
    new Promise(resolve => setTimeout(resolve, 3000)),
  ]);
console.log(`bytes of a module: ${outcome ?? "the run never ended"}`);
process.exit(0); // the SDK's worker threads keep Node alive
