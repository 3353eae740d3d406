// /// script
// dependencies = ["@wasmer/sdk@0.16.0"]
// ///
// Writes "abc" to a file, from a string, a Uint8Array, an ArrayBuffer and a DataView, and reads it back.
import { Wasmer } from "@wasmer/sdk/node";

const client = new Wasmer({ cache: "memory" });
const sandbox = await client.sandboxes.create();
const bytes = new TextEncoder().encode("abc");
const contents = {
  "a string": "abc",
  "a Uint8Array": bytes,
  "an ArrayBuffer": bytes.buffer,
  "a DataView": new DataView(bytes.buffer),
};
for (const [name, value] of Object.entries(contents)) {
  const outcome = await sandbox.fs.writeFile("file", value).then(
    async () => `resolved; the file holds ${(await sandbox.fs.readFile("file")).length} bytes`,
    error => `rejected, ${error.name}`);
  console.log(`writeFile() of ${name}: ${outcome}`);
}
process.exit(0); // the SDK's worker threads keep Node alive
