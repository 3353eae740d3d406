// A client of the TypeScript SDK: node client.mjs SDK_FOLDER SERVER, with the calls as JSON on stdin:
// [[tool, arguments], ...]. Prints {server, tools, results}; a result is what the SDK gave, or {threw: ...}. Knows nothing of
// the tests. What the SDK throws is what a user of such a client would see in place of the answer.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [sdk, command] = process.argv.slice(2);
const { resolve } = createRequire(`${sdk}/package.json`);
const load = (path) => import(pathToFileURL(resolve(`@modelcontextprotocol/sdk/${path}`)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");

let input = "";
for await (const piece of process.stdin) input += piece;

const transport = new StdioClientTransport({ command, env: process.env, stderr: "inherit" });
const client = new Client({ name: "wasmer-sandbox-test", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools(); // from here on the SDK checks each answer against the tool's schema
const results = [];
for (const [name, args] of JSON.parse(input)) {
  try {
    results.push(await client.callTool({ name, arguments: args }));
  } catch (error) {
    results.push({ threw: String(error), code: error.code });
  }
}
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion(), tools, results }));
