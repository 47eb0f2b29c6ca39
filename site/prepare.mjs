// Copies the pages of the repository for the site and rewrites their links. Linked files that are not pages are copied too.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { pages, root } from "./pages.mjs";

/** Replaces the content of `folder`. Throws with a list of broken links and of pages that are in no group. */
export function prepare(folder) {
  rmSync(folder, { recursive: true, force: true });
  const problems = [];
  for (const name of readdirSync(join(root, "docs"), { recursive: true })) {
    const path = posix.join("docs", name.replaceAll("\\", "/"));
    if (path.endsWith(".md") && !pages.has(path)) problems.push(`${path}: add it to a group in site/pages.mjs`);
  }
  for (const [path, { place }] of pages) {
    const report = (problem) => problems.push(`${path}: ${problem}`);
    write(join(folder, place), pageOf(path, place, { folder, report }));
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

function pageOf(path, place, { folder, report }) {
  const text = readFileSync(join(root, path), "utf8");
  // Code blocks are not changed.
  const parts = text.split(/(^ *```[\s\S]*?^ *```$)/m);
  return parts.map((part, index) => (index % 2 === 1 ? part : linked(part))).join("");

  function linked(part) {
    return part.replaceAll(/^ *<!--[\s\S]*?-->\n/gm, "").replaceAll(/\]\(([^()\s]+)\)/g, (whole, target) => {
      if (/^(?:[a-z]+:|#)/.test(target)) return whole;
      const [file, anchor] = target.split("#");
      const found = posix.normalize(posix.join(posix.dirname(path), file));
      const page = pages.get(found);
      if (page !== undefined) {
        const way = posix.relative(posix.dirname(place), page.place);
        return `](${way.startsWith(".") ? way : `./${way}`}${anchor === undefined ? "" : `#${anchor}`})`;
      }
      return `](${fileOf(found, target)})`;
    });
  }

  function fileOf(found, target) {
    const source = join(root, found);
    if (found.startsWith("..") || !existsSync(source) || !statSync(source).isFile()) {
      report(`broken link ${target}`);
      return target;
    }
    if (found.endsWith(".md")) report(`${target} is not a page of the site: add it to a group in site/pages.mjs`);
    const name = /\.\w+$/.test(found) ? found : `${found}.txt`;
    write(join(folder, "public", "files", name), null, source);
    return `/files/${name}`;
  }
}

function write(target, text, source) {
  mkdirSync(dirname(target), { recursive: true });
  if (text === null) cpSync(source, target);
  else writeFileSync(target, text);
}
