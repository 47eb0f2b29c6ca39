import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layers } from "./module-borders.ts";
import { edges, moduleOf, name, packagesOf, product, src } from "./module-graph.ts";

const begin = "<!-- modules: written by `bun gateway/test/write-module-picture.ts` -->";
const end = "<!-- end of modules -->";

export const pageOfModules: string = join(src, "..", "..", "docs", "architecture.md");

/** The page with the diagram updated from the imports. Throws if the page has no place for it. */
export function withModulePicture(page: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`no place for the picture: ${begin} … ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${modulePicture()}\n\n${page.slice(to)}`;
}

/** A Mermaid flowchart. Modules that all import (core, ports, contract) are one layer without arrows. */
function modulePicture(): string {
  const arrows = new Set<string>();
  const base = new Set(["core", "ports"]);
  const roots = new Set(layers[0]?.[1]);
  for (const { file, target } of edges()) {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (from !== to && !base.has(to) && !roots.has(from)) arrows.add(`  ${from} --> ${to}`);
  }
  const simulated = product
    .filter((file) => packagesOf(file).includes("simulator"))
    .map((file) => moduleOf(name(file)));
  const boxes = layers.map(([layer, modules]) => {
    const members = layer === "base" ? [...modules, "contract[(contract)]"] : modules;
    return [`  subgraph ${layer}`, "    direction LR", ...members.map((module) => `    ${module}`), "  end"].join("\n");
  });
  const order = layers.slice(1).map(([layer], index) => `  ${layers[index]?.[0]} ~~~ ${layer}`);
  return [
    "```mermaid",
    "flowchart TD",
    ...boxes,
    ...order,
    ...[...arrows].sort(),
    "```",
    "",
    `\`cli\` and \`main\` import every module; every module may import the base. The package \`simulator\` is imported by ${[...new Set(simulated)].map((module) => `\`${module}\``).join(", ") || "no module"} alone.`,
  ].join("\n");
}

if (import.meta.main) writeFileSync(pageOfModules, withModulePicture(readFileSync(pageOfModules, "utf8")));
