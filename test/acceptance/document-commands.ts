import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { root } from "./child.ts";

/** What a page shows between two fences. */
export interface Snippet {
  readonly page: string;
  /** `docs/quickstart.md:47`. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** Why it cannot be run, from the comment before it: `<!-- not run: … -->`. */
  readonly notRun: string | null;
  /** `<!-- run: stopped -->`: the gateway is stopped for it. `<!-- run: apart -->`: it is about another installation, a new one. */
  readonly run: "stopped" | "apart" | null;
  /** What it is an example of: `<!-- schema: Usage -->`, a name of the API's description. */
  readonly schema: string | null;
}

/** Every page that people read. What changed in each version is no page of this one. */
export function documentPages(): readonly string[] {
  const beside = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/package.md", "simulator/README.md"];
  return [...beside, ...[...new Glob("docs/**/*.md").scanSync(root)].sort()];
}

export function textOfPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** Every snippet of a page, in its order; one in a list without the list's indentation. */
export function snippetsOf(page: string): readonly Snippet[] {
  const text = textOfPage(page);
  const fences = /^( *)(?:<!-- (not run|run|schema): (.+) -->\n\1)?```(\S*)\n([\s\S]*?)^\1```$/gm;
  return [...text.matchAll(fences)].map((found) => {
    const [, indent = "", word, rest = "", language = "", inside = ""] = found;
    if (word === "run" && rest !== "stopped" && rest !== "apart") throw new Error(`${page}: what is "run: ${rest}"?`);
    return {
      page,
      at: `${page}:${text.slice(0, found.index).split("\n").length}`,
      language,
      text: indent === "" ? inside : inside.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      notRun: word === "not run" ? rest : null,
      run: word === "run" ? (rest as "stopped" | "apart") : null,
      schema: word === "schema" ? rest : null,
    };
  });
}
