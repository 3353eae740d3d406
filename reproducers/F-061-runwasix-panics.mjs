// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Runs a module, with runWasix() up to 0.10 and in a sandbox since, and waits ten seconds for it to end.
import * as sdk from "@wasmer/sdk/node";

// (func (export "_start")
//   (drop (call $fd_write (i32.const 1) (; "hello" ;) (i32.const 0) (i32.const 1) (i32.const 16))))
const GUEST = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002230116776173695f736e617073686f745f70726576696577310866645f" +
  "77726974650000030201010503010001071302066d656d6f72790200065f737461727400010a0f010d0041014100410141101000" +
  "1a0b0b14010041000b0e080000000600000068656c6c6f0a", "hex");

let ended;
if (sdk.runWasix) { // the API up to 0.10
  await sdk.init();
  const instance = await sdk.runWasix(GUEST, {});
  console.log("the SDK took the module, by runWasix()");
  ended = instance.wait().then(({ code, stdout }) => `exit code ${code}, stdout: ${stdout.trim()}`);
} else {
  const client = new sdk.Wasmer({ cache: "memory" });
  const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
  console.log("the SDK took the module, by packages.load()");
  ended = sandbox.command("main").run()
    .then(({ exitCode, stdout }) => `exit code ${exitCode}, stdout: ${stdout.text().trim()}`);
}

const begun = performance.now();
const outcome = await Promise.race([ended, new Promise(resolve => setTimeout(resolve, 10000))]);
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
const pending = `the promise of the run's end had not settled after ${seconds} s`;
console.log(outcome ? `the run ended: ${outcome}` : pending);
process.exit(0); // the SDK's worker threads keep Node alive
