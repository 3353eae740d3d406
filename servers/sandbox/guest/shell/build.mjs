// Bundles src/main.mjs with the packages installed in a folder. Called by scripts/build_shell.sh.
//
//   node build.mjs FOLDER OUT: FOLDER has node_modules, OUT becomes the bundle
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const [folder, out] = process.argv.slice(2).map((path) => resolve(path));
const { build } = await import(createRequire(join(folder, "package.json")).resolve("esbuild"));

// What is changed in just-bash: calls of the hooks that src/main.mjs names. Each text must be there once.
const CHANGES = [
  [
    'async executeStatement(t){if(this.assertDefenseContext("statement"),',
    'async executeStatement(t){let z=sandboxShell.live.pause();z&&await z;if(this.assertDefenseContext("statement"),',
  ],
  [
    "let f=await this.executePipeline(c);n.appendResult(f,",
    "sandboxShell.live.beforePipeline(this,t,c);let f=sandboxShell.live.afterPipeline(t,await this.executePipeline(c));n.appendResult(f,",
  ],
  [
    "async executeUserScript(t,n,r=\"\"){return ",
    "async executeUserScript(t,n,r=\"\"){return sandboxShell.scripts.userScript(this.ctx,t,n,r);",
  ],
  // Where a stream is led into the other, one of bytes and one of text would be mixed.
  [
    'n.length>0&&(t=e.executionScope.accountResult(t,"redirection"));',
    't=sandboxShell.live.beforeRedirection(e.state,t,n);n.length>0&&(t=e.executionScope.accountResult(t,"redirection"));',
  ],
  [
    "command not available in browser environments. Exclude '${t}' from your commands or use the Node.js bundle.\n",
    "command not found\n",
  ],
  ["await new Yo(E,m).executeScript(x);", "await sandboxShell.execute(new Yo(E,m),x);"],
  ['Buffer.from(e).toString("latin1")}function Yy(', "sandboxShell.toLatin1(e)}function Yy("],
];

function changed(text) {
  for (const [from, to] of CHANGES) {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`just-bash has ${parts.length - 1} times: ${from}`);
    text = parts.join(to);
  }
  return text;
}

const bundled = join(folder, "node_modules/just-bash/dist/bundle/browser.js");

await build({
  absWorkingDir: here,
  entryPoints: ["src/main.mjs"],
  outfile: out,
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  platform: "neutral",
  mainFields: ["module", "main"],
  conditions: ["browser", "import"],
  nodePaths: [join(folder, "node_modules")],
  external: ["qjs:*"],
  alias: {
    "node:zlib": join(here, "src/zlib.mjs"),
    turndown: join(here, "src/unavailable.mjs"),
  },
  define: { global: "globalThis" },
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  plugins: [
    {
      name: "change-just-bash",
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /^just-bash\/browser$/ }, () => ({ path: bundled }));
        onLoad({ filter: /just-bash.dist.bundle.browser\.js$/ }, ({ path }) => ({
          contents: changed(readFileSync(path, "utf8")),
          loader: "js",
        }));
      },
    },
  ],
});
