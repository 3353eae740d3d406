// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// In client after client, up to ten, runs a guest that sleeps for 10 ms: first without timeoutMs, then with 60 s of it.
import { Wasmer } from "@wasmer/sdk/node";

// (func (export "_start")
//   (drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 120))))
const GUEST = Buffer.from(
  "0061736d01000000010c0260047f7f7f7f017f60000002260116776173695f736e617073686f745f70726576696577310b706f6c" +
  "6c5f6f6e656f66660000030201010503010001071302066d656d6f72790200065f737461727400010a11010f00410041c0004101" +
  "41f80010001a0b0b12010041100b0c010000000000000080969800000b046e616d65010401000170", "hex");

async function wakes(options) {
  const client = new Wasmer({ cache: "memory" });
  const sandbox = await client.sandboxes.create({ packages: [await client.packages.load(GUEST)] });
  const late = new Promise(resolve => setTimeout(resolve, 4000, false));
  return Promise.race([sandbox.command("main").run(options).then(output => output.ok), late]);
}

for (const options of [{}, { timeoutMs: 60000 }]) {
  let clients = 0, woke = true;
  while (woke && clients++ < 10) woke = await wakes(options);
  const outcome = woke ? "all ten guests woke up and ended" : "one guest still sleeps after 4.0 s";
  console.log(`run(${JSON.stringify(options)}): ${outcome}`);
}
process.exit(0); // the guest that sleeps would keep Node alive
