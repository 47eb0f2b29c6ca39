// Started with Bun, for its bundler: `bun scripts/make-bundles.mjs gateway|test-programs FOLDER [PLACE]`. The bundles run in PLACE,
// if their folder is moved there.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./install.mjs";

const [programs, folder, place = folder] = process.argv.slice(2);
const minify = { syntax: true, whitespace: true };
const threads = readdirSync(join(root, "gateway", "src"), { recursive: true })
  .filter((name) => name.endsWith("-worker.ts"))
  .map((name) => join(root, "gateway", "src", name));

/** Keeps paths relative to the source: code finds its threads (bundled too) and the console relative to itself. */
const sourcePaths = {
  name: "source paths",
  setup(build) {
    build.onLoad({ filter: /[\\/](?:gateway|simulator|contract)[\\/].*\.ts$/ }, async ({ path }) => {
      const text = await Bun.file(path).text();
      return { loader: "ts", contents: text.includes("import.meta.") ? withSourcePaths(text, path) : text };
    });
  },
};

function withSourcePaths(text, path) {
  const urlOf = (file) => JSON.stringify(pathToFileURL(file).href);
  return text
    .replace(/new URL\("\.\/([\w-]+-worker)\.ts", import\.meta\.url\)/g, (_whole, name) => {
      const source = join(dirname(path), `${name}.ts`);
      return `new URL(${urlOf(join(place, source.slice(root.length).replace(/\.ts$/, ".js")))})`;
    })
    .replaceAll("import.meta.url", urlOf(path))
    .replaceAll("import.meta.dir", JSON.stringify(dirname(path)));
}

const common = { root, outdir: folder, target: "bun", minify, plugins: [sourcePaths] };
const source = (...path) => join(root, ...path);
const builds = {
  // The options of `built-program.mjs`, for the same reasons.
  gateway: {
    entrypoints: [source("gateway", "src", "cli", "cli.ts"), ...threads],
    ...{ format: "esm", splitting: true, define: { "process.env.NODE_ENV": "undefined" } },
  },
  // Only CommonJS modules can be shipped as precompiled bytecode.
  "test-programs": {
    entrypoints: [...threads, source("simulator", "src", "main.ts")],
    ...{ format: "cjs", bytecode: true },
  },
};
const { success, logs } = await Bun.build({ ...common, ...builds[programs] });
for (const log of logs) console.error(log);
process.exit(success ? 0 : 1);
