import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { root } from "./child.ts";

/** A fenced code block of a page. */
export interface Snippet {
  readonly page: string;
  /** `docs/quickstart.md:47`. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** The reason why it cannot be run, from the comment before it: `<!-- not run: … -->`. */
  readonly notRun: string | null;
  /** `<!-- run: stopped -->`: the gateway is stopped first. `<!-- run: apart -->`: it runs on a separate new installation. */
  readonly run: "stopped" | "apart" | null;
  /** The schema of the API description that it is an example of: `<!-- schema: Usage -->`. */
  readonly schema: string | null;
}

/** Every page of the documentation; the changelog is left out. */
export function documentPages(): readonly string[] {
  const outsideDocs = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/package.md", "simulator/README.md"];
  return [...outsideDocs, ...[...new Glob("docs/**/*.md").scanSync(root)].sort()];
}

export function textOfPage(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The snippets of a page in order, without the indentation of a surrounding list. */
export function snippetsOf(page: string): readonly Snippet[] {
  const text = textOfPage(page);
  const fences = /^( *)(?:<!-- (not run|run|schema): (.+) -->\n\1)?```(\S*)\n([\s\S]*?)^\1```$/gm;
  return [...text.matchAll(fences)].map((found) => {
    const [, indent = "", word, rest = "", language = "", inside = ""] = found;
    if (word === "run" && rest !== "stopped" && rest !== "apart")
      throw new Error(`${page}: unknown value in "run: ${rest}"`);
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
