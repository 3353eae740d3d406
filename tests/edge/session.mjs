// A whole session with the TypeScript client: node session.mjs PACKAGE URL ERA. Prints one JSON object.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, url, era] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(createRequire(`${folder}/package.json`).resolve(path)).href);

let Client, Transport, options;
if (era === "sdk") {
  ({ Client } = await load("@modelcontextprotocol/sdk/client/index.js"));
  ({ StreamableHTTPClientTransport: Transport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js"));
} else {
  ({ Client, StreamableHTTPClientTransport: Transport } = await load("@modelcontextprotocol/client"));
  options = { versionNegotiation: { mode: era } };
}
const client = new Client({ name: "session", version: "1.0.0" }, options);
await client.connect(new Transport(new URL(url)));
const call = async (tool, given = {}) => {
  const result = await client.callTool({ name: tool, arguments: given });
  return { ...result.structuredContent, isError: result.isError ?? false };
};
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const stored = await call("store_echo", { text: "from TypeScript", tag: "ts" });
const got = await call("get_echo", { id: stored.id });
const page = await call("list_echoes", { tag: "ts", text: "typescript" });
const info = await call("get_server_info");
const refused = await call("store_echo", { text: "" });
const missing = await call("get_echo", { id: 999999 });
await client.close();
console.log(JSON.stringify({ tools, stored, got, page, info, refused, missing }));
