import { readFileSync } from "node:fs";
import type { ModelEndpointId } from "@sluice/contract";
import { providerKindSettings } from "../../../contract/src/provider-kinds.ts";

/** The endpoints of a kind, from docs/providers/README.md. `family`: the documentation's name for some of its models. */
export interface DocumentedKind {
  readonly kind: string;
  readonly family: "Claude models" | "other models" | null;
  readonly served: ReadonlySet<ModelEndpointId>;
}

/** The endpoints behind each column of the first table. */
const columnEndpoints: Readonly<Record<string, readonly ModelEndpointId[]>> = {
  embeddings: ["embeddings", "embed-content", "batch-embed-contents"],
  images: ["images"],
  edits: ["image-edits"],
};

/** The table of served endpoints, combined with the list of endpoints that are only forwarded. */
export function documentedKinds(): readonly DocumentedKind[] {
  const text = readFileSync("docs/providers/README.md", "utf8");
  const forwarded = forwardedEndpoints(text);
  const [head = [], , ...rows] = tableAfter(text, "| type | chat |");
  return rows.flatMap((cells): DocumentedKind[] => {
    const family = cells[0]?.includes("Claude models")
      ? "Claude models"
      : cells[0]?.includes("other models")
        ? "other models"
        : null;
    const cellEndpoints = head.flatMap((name, at) => (cells[at] === "–" ? [] : (columnEndpoints[name] ?? [])));
    return kindsIn(cells[0] ?? "").map((kind) => ({
      kind,
      family,
      served: new Set([
        ...cellEndpoints,
        ...(family === "Claude models"
          ? []
          : forwarded.filter(([, kinds]) => kinds.includes(kind)).map(([name]) => name)),
        ...countsExactly(kind, family),
      ]),
    }));
  });
}

/** Token counts are answered everywhere; these kinds count exactly, the others estimate. */
function countsExactly(kind: string, family: DocumentedKind["family"]): readonly ModelEndpointId[] {
  const served = endpointsOf(kind);
  const counting = ["count-tokens", "input-tokens", "gemini-count-tokens"] as const;
  return counting.filter((name) => {
    if (name === "input-tokens" && kind === "openai-compatible") return false;
    if (family === "Claude models" && name === "gemini-count-tokens") return false;
    return served.includes(name) && !(family === "other models" && name === "count-tokens");
  });
}

/** The endpoints of a kind, from the generated table of kinds. */
export function endpointsOf(kind: string): readonly string[] {
  return providerKindSettings[kind]?.["endpoints"]?.options ?? [];
}

/** Every kind that serves models, from the same table. */
export const callableKinds: readonly string[] = Object.keys(providerKindSettings).filter(
  (kind) => endpointsOf(kind).length > 0,
);

function forwardedEndpoints(text: string): readonly (readonly [ModelEndpointId, readonly string[]])[] {
  const [, , ...rows] = tableAfter(text, "| endpoint | types |");
  return rows.map(([name = "", kinds = ""]) => [name.replaceAll("`", "") as ModelEndpointId, kindsIn(kinds)] as const);
}

/** The kinds that make videos, and what each bills by. */
export function documentedVideoKinds(): ReadonlyMap<string, string> {
  const text = readFileSync("docs/providers/README.md", "utf8");
  const [head = [], , ...rows] = tableAfter(text, "| type | models | audio |");
  const kinds = Object.keys(providerKindSettings);
  return new Map(
    rows.flatMap((cells) =>
      namesIn(cells[0] ?? "")
        .filter((name) => kinds.includes(name))
        .map((kind) => [kind, cells[head.indexOf("bills by")] ?? ""] as const),
    ),
  );
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

function kindsIn(cell: string): readonly string[] {
  return namesIn(cell).filter((name) => callableKinds.includes(name));
}

/** The cells of a Markdown table, by the start of its header row. */
function tableAfter(text: string, begin: string): readonly (readonly string[])[] {
  const at = text.indexOf(begin);
  if (at === -1) throw new Error(`no table starts with ${begin}`);
  const lines = text.slice(at).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(0, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
