import { askAs, type CallInfo, type KeyCall } from "../../media/key-call.ts";

export interface RerankDraft {
  readonly query: string;
  /** One document per line. */
  readonly documents: string;
  readonly top: number | null;
}

export const plainRerank: RerankDraft = { query: "", documents: "", top: null };

export interface Ranked {
  readonly document: string;
  /** Its position among the documents, starting at 1. */
  readonly place: number;
  /** As returned by the model; for most 0 to 1. */
  readonly score: number;
}

export interface Ranking {
  readonly ranked: readonly Ranked[];
  readonly info: CallInfo;
  readonly totalMs: number;
}

export function rerankBody(model: string, query: string, documents: readonly string[], top: number | null) {
  return { model, query: query.trim(), documents, ...(top === null ? {} : { top_n: top }) };
}

export async function rerank(
  call: KeyCall,
  body: ReturnType<typeof rerankBody>,
  signal: AbortSignal,
): Promise<Ranking> {
  const answered = await askAs(call, "/v1/rerank", body, { signal });
  return { ranked: rankedIn(answered.value, body.documents), info: answered, totalMs: answered.totalMs };
}

/** The best first. Cohere and Jina share the format; entries without index or score are skipped. */
export function rankedIn(answer: unknown, documents: readonly string[]): readonly Ranked[] {
  const results = answer !== null && typeof answer === "object" ? Reflect.get(answer, "results") : null;
  if (!Array.isArray(results)) return [];
  const ranked = results.flatMap((result: { index?: unknown; relevance_score?: unknown } | null): Ranked[] => {
    const { index, relevance_score: score } = result ?? {};
    if (typeof index !== "number" || typeof score !== "number") return [];
    return [{ document: documents[index] ?? "", place: index + 1, score }];
  });
  return ranked.toSorted((one, other) => other.score - one.score);
}
