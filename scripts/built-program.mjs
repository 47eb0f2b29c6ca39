// Contents of every build of the gateway: the program, one file for each worker thread, the console, the files of the API
// reference, and the licenses of all bundled packages.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { install, root } from "./install.mjs";

export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const source = join(root, "gateway", "src");

/** Entry points of a build: `main` in gateway/src/cli, and every file that is started as a worker thread. */
export function entriesOf(main) {
  const threads = readdirSync(source, { recursive: true })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name) =>
      [...readFileSync(join(source, name), "utf8").matchAll(threadEntry)].map(([, entry]) =>
        join(source, dirname(name), entry),
      ),
    );
  return [join(source, "cli", main), ...threads];
}

const threadEntry = /\bentry: new URL\("\.\/([\w-]+-worker\.ts)", import\.meta\.url\)/g;

/**
 * Options of every build. All entry points go into one folder, where the program finds its worker threads
 * (system/worker-thread.ts). Splitting keeps the order in which modules are evaluated; in a single file, a library that is
 * loaded lazily ran before a module that it needs. NODE_ENV stays undefined for libraries, as when running from source.
 */
export const buildOptions = [
  ...["--format=esm", "--splitting", "--minify-syntax", "--minify-whitespace", "--entry-naming=[name].[ext]"],
  "--define=process.env.NODE_ENV=undefined",
];

/**
 * The commit and its date, for `--version` (gateway/src/cli/version.ts); the commit ends with `-dirty` if files have changed.
 * An image is built without a checkout, so deploy/Containerfile sets both in the environment. Without either, the revision
 * is `unknown` and the date is empty.
 */
export function builtFrom() {
  const { BUILD_REVISION: revision, BUILD_DATE: date } = process.env;
  if (revision) return { revision, date: date ? dayOf(new Date(date)) : "" };
  const hash = existsSync(join(root, ".git")) ? git("rev-parse", "HEAD") : null;
  const changes = hash === null ? null : git("status", "--porcelain");
  if (changes === null) return { revision: "unknown", date: "" };
  const committed = Number(git("show", "--no-patch", "--format=%ct", "HEAD"));
  return { revision: changes === "" ? hash : `${hash}-dirty`, date: dayOf(new Date(committed * 1000)) };
}

/** The day in UTC. */
function dayOf(date) {
  return date.toISOString().slice(0, 10);
}

/** Returns null if git is not installed or refuses this folder. */
function git(...words) {
  const { status, stdout } = spawnSync("git", words, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

export function revisionOptions() {
  const { revision, date } = builtFrom();
  return [`--define=builtRevision=${JSON.stringify(revision)}`, `--define=builtDate=${JSON.stringify(date)}`];
}

/** Creates `<folder>/static`. @throws Error if the console cannot be built */
export function makeStatic(folder) {
  install();
  if (!buildConsole()) throw new Error("could not build the console");
  const into = join(folder, "static");
  cpSync(join(source, "admin", "docs"), join(into, "docs"), { recursive: true });
  cpSync(join(root, "console", "dist"), join(into, "console"), {
    recursive: true,
    filter: (file) => !file.endsWith(".built-from"),
  });
  const reference = join(root, "node_modules", "swagger-ui-dist");
  for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"])
    copyFileSync(join(reference, name), join(into, "docs", name));
}

/** Writes the licenses of everything in the program and the console into one file. */
export function writeNotices(file) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const texts = shippedPackages(packages).map((path) => {
    const { version, license } = packages[path];
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    return `${"=".repeat(80)}\n${name} ${version}: ${license ?? "see below"}\n\n${licenseText(join(root, path))}`;
  });
  // The package of the vendors' logos has no license file.
  const logos = join(root, "console/src/components/vendors");
  texts.push(`${"=".repeat(80)}\nLogos of @lobehub/icons-static-svg: MIT\n\n${licenseText(logos)}`);
  const priceList = join(root, "gateway/src/providers/price-list");
  texts.push(`${"=".repeat(80)}\nData of genai-prices: MIT\n\n${licenseText(priceList)}`);
  const runtime = `The runtime is Bun; its license and the licenses of its parts: https://bun.com/docs/project/license`;
  writeFileSync(file, `Packages that are part of Sluice, and their licenses.\n${runtime}\n\n${texts.join("\n")}`);
}

/** Sorted lockfile paths of the packages that the shipped workspaces need at run time. */
export function shippedPackages(packages) {
  const found = new Set();
  const waiting = [];
  const add = (path, names) => {
    for (const name of names) {
      const at = resolvePackage(packages, path, name);
      if (at === null || found.has(at) || packages[at].link) continue;
      found.add(at);
      waiting.push(at);
    }
  };
  for (const part of ["gateway", "contract", "simulator"]) add(part, Object.keys(packages[part].dependencies ?? {}));
  add("console", importedByConsole(Object.keys(packages.console.devDependencies)));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    add(path, Object.keys(packages[path].dependencies ?? {}));
  }
  return [...found].sort();
}

/** The packages that the console's page imports. The manifest lists them only as build dependencies. */
function importedByConsole(names) {
  const folder = join(root, "console", "src");
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  return names.filter((name) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
}

/** Resolves a package from another package's folder, as Node does. */
function resolvePackage(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const at = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[at] !== undefined) return at;
    if (folder === "") return null;
  }
}

function licenseText(folder) {
  if (!existsSync(folder)) return "";
  const names = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|notice|copying)/i.test(name))
    .sort();
  return names.map((name) => `${readFileSync(join(folder, name), "utf8").trim()}\n`).join("\n");
}
