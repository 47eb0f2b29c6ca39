// What every built form of the gateway has in it: the program, one file for each of its threads, the console, the files of
// the API reference, and the licences of all packages that went in.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { install, root } from "./install.mjs";

export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const source = join(root, "gateway", "src");

/** `main` of gateway/src/cli, and every file that some other starts as a thread. */
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
 * What a build of any form is told. Entries lie beside each other, where the program looks for them (system/worker-thread.ts).
 * In several files, which keep the order in which modules begin: in one, a library that is loaded late found another missing.
 * Libraries see no NODE_ENV, as from the source, instead of the one that the build is made in.
 */
export const buildOptions = [
  ...["--format=esm", "--splitting", "--minify-syntax", "--minify-whitespace", "--entry-naming=[name].[ext]"],
  "--define=process.env.NODE_ENV=undefined",
];

/**
 * What is built, for the program to say (gateway/src/cli/version.ts): the commit, with `-dirty` where files have been changed, and its
 * date. The build of an image has no checkout and is given both (deploy/Containerfile). `unknown` and no date where neither is there.
 */
export function builtFrom() {
  const { BUILD_REVISION: given, BUILD_DATE: date } = process.env;
  if (given) return { revision: given, date: date ? dayOf(new Date(date)) : "" };
  const hash = existsSync(join(root, ".git")) ? git("rev-parse", "HEAD") : null;
  const changes = hash === null ? null : git("status", "--porcelain");
  if (changes === null) return { revision: "unknown", date: "" };
  const committed = Number(git("show", "--no-patch", "--format=%ct", "HEAD"));
  return { revision: changes === "" ? hash : `${hash}-dirty`, date: dayOf(new Date(committed * 1000)) };
}

/** UTC. */
function dayOf(date) {
  return date.toISOString().slice(0, 10);
}

/** null: git is not there, or refuses this folder. */
function git(...words) {
  const { status, stdout } = spawnSync("git", words, { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}

export function revisionOptions() {
  const { revision, date } = builtFrom();
  return [`--define=builtRevision=${JSON.stringify(revision)}`, `--define=builtDate=${JSON.stringify(date)}`];
}

/** Makes `<folder>/static`, and says why it cannot. */
export function makeStatic(folder) {
  install();
  if (!buildConsole()) throw new Error("the console could not be built");
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

/** The licences of what is in the program and in the console, in one file. */
export function writeNotices(file) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const texts = shippedPackages(packages).map((path) => {
    const { version, license } = packages[path];
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    return `${"=".repeat(80)}\n${name} ${version}: ${license ?? "see below"}\n\n${licenceText(join(root, path))}`;
  });
  const priceList = join(root, "gateway/src/providers/price-list");
  texts.push(`${"=".repeat(80)}\nData of genai-prices: MIT\n\n${licenceText(priceList)}`);
  const runtime = `The runtime is Bun; its licence and those of its parts: https://bun.com/docs/project/license`;
  writeFileSync(file, `Packages that are part of Sluice, and their licences.\n${runtime}\n\n${texts.join("\n")}`);
}

/** Paths in the lockfile, sorted, of what the parts that are shipped need to run. */
export function shippedPackages(packages) {
  const found = new Set();
  const waiting = [];
  const need = (path, names) => {
    for (const name of names) {
      const at = placeOf(packages, path, name);
      if (at === null || found.has(at) || packages[at].link) continue;
      found.add(at);
      waiting.push(at);
    }
  };
  for (const part of ["gateway", "contract", "simulator"]) need(part, Object.keys(packages[part].dependencies ?? {}));
  need("console", inThePage(Object.keys(packages.console.devDependencies)));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    need(path, Object.keys(packages[path].dependencies ?? {}));
  }
  return [...found].sort();
}

/** Of the console's packages those that its page has in it: all are there for its build alone. */
function inThePage(names) {
  const folder = join(root, "console", "src");
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  return names.filter((name) => text.includes(`"${name}"`) || text.includes(`"${name}/`));
}

/** Where a package finds another, as Node looks for it. */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const at = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[at] !== undefined) return at;
    if (folder === "") return null;
  }
}

function licenceText(folder) {
  if (!existsSync(folder)) return "";
  const names = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|notice|copying)/i.test(name))
    .sort();
  return names.map((name) => `${readFileSync(join(folder, name), "utf8").trim()}\n`).join("\n");
}
