import { askAs, type CallInfo, type KeyCall } from "../../media/key-call.ts";

export interface ModerationDraft {
  readonly text: string;
  /** A data: URL; null: only the text is moderated. */
  readonly picture: string | null;
}

export const plainModeration: ModerationDraft = { text: "", picture: null };

interface Category {
  readonly name: string;
  readonly flagged: boolean;
  /** 0 to 1. null: the model returns no score. */
  readonly score: number | null;
}

export interface Verdict {
  readonly flagged: boolean;
  readonly categories: readonly Category[];
}

export interface Moderated {
  readonly verdicts: readonly Verdict[];
  readonly info: CallInfo;
  readonly totalMs: number;
}

export function moderationBody(model: string, { text, picture }: ModerationDraft) {
  const written = text.trim();
  if (picture === null) return { model, input: written };
  const shown = { type: "image_url", image_url: { url: picture } };
  return { model, input: written === "" ? [shown] : [{ type: "text", text: written }, shown] };
}

export async function moderate(call: KeyCall, body: object, signal: AbortSignal): Promise<Moderated> {
  const answered = await askAs(call, "/v1/moderations", body, { signal });
  return { verdicts: verdictsIn(answered.value), info: answered, totalMs: answered.totalMs };
}

/** Flagged categories first, then the highest scores. Mistral has no overall `flagged`; its categories decide. */
export function verdictsIn(answer: unknown): readonly Verdict[] {
  const results = member(answer, "results");
  if (!Array.isArray(results)) return [];
  return results.map((result: unknown): Verdict => {
    const flags = entriesOf(member(result, "categories"));
    const scores = entriesOf(member(result, "category_scores"));
    const names = new Set([...flags.keys(), ...scores.keys()]);
    const categories = [...names].map((name): Category => {
      const score = scores.get(name);
      return { name, flagged: flags.get(name) === true, score: typeof score === "number" ? score : null };
    });
    const order = ({ flagged, score }: Category) => (flagged ? 2 : 0) + (score ?? 0);
    return {
      flagged: member(result, "flagged") === true || categories.some(({ flagged }) => flagged),
      categories: categories.toSorted((one, other) => order(other) - order(one)),
    };
  });
}

/** `self-harm/intent` and `dangerous_and_criminal_content` as readable words. */
export function categoryWords(name: string): string {
  const words = name.replaceAll("_", " ").replaceAll("/", ": ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function entriesOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(value !== null && typeof value === "object" ? Object.entries(value) : []);
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}
