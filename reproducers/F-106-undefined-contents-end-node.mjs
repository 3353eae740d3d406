// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Writes a file whose contents are undefined, and looks where the error arrives, if there is one.
import { Wasmer } from "@wasmer/sdk/node";

const client = new Wasmer({ cache: "memory" });
const sandbox = await client.sandboxes.create();
process.on("uncaughtException", error => console.log(`uncaught exception: ${error.name}: ${error.message}`));

for (const [name, contents] of [["a string", "text"], ["undefined", undefined]]) {
  const late = new Promise(resolve => setTimeout(resolve, 3000, "has not settled after 3.0 s"));
  const outcome = sandbox.fs.writeFile("file", contents).then(() => "resolved", error => `rejected, ${error.name}`);
  console.log(`writeFile() of ${name}: ${await Promise.race([outcome, late])}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
