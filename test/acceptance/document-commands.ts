import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./child.ts";

/** What a document shows between two fences. */
export interface Snippet {
  /** `docs/quickstart.md:47`. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** Why it cannot be run, from the comment before it: `<!-- not run: … -->`. */
  readonly notRun: string | null;
  /** Whether the gateway is stopped for it: `<!-- run: stopped -->`. */
  readonly stopped: boolean;
}

/** Every snippet of a document, in its order. */
export function snippetsOf(document: string): readonly Snippet[] {
  const text = readFileSync(join(root, document), "utf8");
  const fences = /(?:^<!-- (not run|run): (.+) -->\n)?^```(\S*)\n([\s\S]*?)^```$/gm;
  return [...text.matchAll(fences)].map((found) => {
    const [, word, rest = "", language = "", inside = ""] = found;
    if (word === "run" && rest !== "stopped") throw new Error(`${document}: what is "run: ${rest}"?`);
    return {
      at: `${document}:${text.slice(0, found.index).split("\n").length}`,
      language,
      text: inside,
      notRun: word === "not run" ? rest : null,
      stopped: word === "run",
    };
  });
}
