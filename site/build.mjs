// `npm run docs:site` builds the documents into dist/site, a folder of static files. With --dev it serves them and reloads on changes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const site = dirname(fileURLToPath(import.meta.url));
const built = join(site, "..", "dist", "site");

install();
const { prepare } = await import("./prepare.mjs");
prepare(join(site, "build", "pages"));
const isDev = process.argv.includes("--dev");
run("node", [join(site, "node_modules", "vitepress", "bin", "vitepress.js"), isDev ? "dev" : "build", site]);
if (!isDev) {
  const dead = deadAnchors();
  if (dead.length > 0) fail(`links to missing headings:\n${dead.join("\n")}`);
  console.log(`The site is in ${built}.`);
}

/** The site has its own packages, installed when it is first built. */
function install() {
  const stampFile = join(site, "node_modules", ".installed");
  const stamp = createHash("sha256")
    .update(readFileSync(join(site, "package-lock.json")))
    .digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
  writeFileSync(stampFile, stamp);
}

function run(command, args) {
  const done = spawnSync(command, args, { cwd: site, stdio: "inherit", shell: process.platform === "win32" });
  if (done.status !== 0) fail(`${command} ${args[0]} failed`);
}

function fail(why) {
  console.error(`docs:site: ${why}`);
  process.exit(1);
}

/** VitePress checks links to pages; this checks links to headings. */
function deadAnchors() {
  const pages = readdirSync(built, { recursive: true })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".html"));
  const texts = new Map(pages.map((page) => [page, readFileSync(join(built, page), "utf8")]));
  const ids = new Map(
    pages.map((page) => [page, new Set([...texts.get(page).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const base = process.env.SITE_BASE ?? "/";
  return pages.flatMap((page) =>
    [...texts.get(page).matchAll(/<a [^>]*href="([^":#]*)#([^"]+)"/g)].flatMap(([, path, anchor]) => {
      const target =
        path === "" ? page : path.startsWith(base) ? path.slice(base.length) : posix.join(posix.dirname(page), path);
      const file = target === "" || target.endsWith("/") ? `${target}index.html` : target;
      return ids.get(file)?.has(decodeURIComponent(anchor)) ? [] : [`${page}: ${path}#${anchor}`];
    }),
  );
}
