import type { ImportSources } from "#importers/index.ts";
import type { ImportDraft } from "#ports/index.ts";
import type { Terminal } from "../terminal.ts";

export interface ImportOptions {
  readonly from?: string;
  readonly database?: string;
  readonly plan?: boolean;
  readonly apply?: boolean;
  readonly undo?: string;
}

/** Result of reading a product. `variables`: values for `${NAME}` that its configuration sets. */
export interface ReadImport {
  readonly draft: ImportDraft;
  readonly variables?: Readonly<Record<string, string>>;
}

export type ReadProduct = (options: ImportOptions, terminal: Terminal, sources: ImportSources) => Promise<ReadImport>;
