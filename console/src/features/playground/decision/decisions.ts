import { askAs, type CallInfo, type KeyCall } from "../../media/key-call.ts";

export interface DecisionDraft {
  readonly text: string;
  /** One statement per line. */
  readonly statements: string;
}

export const plainDecision: DecisionDraft = { text: "", statements: "" };

interface Decided {
  readonly statement: string;
  /** 0 to 1. null: the model refused to answer. */
  readonly probability: number | null;
}

export interface Decisions {
  readonly answers: readonly Decided[];
  readonly info: CallInfo;
  readonly totalMs: number;
}

export function decisionBody(model: string, text: string, statements: readonly string[]) {
  return {
    model,
    input: text.trim(),
    questions: statements.map((instructions) => ({ type: "predicate", instructions })),
  };
}

export async function decide(
  call: KeyCall,
  body: ReturnType<typeof decisionBody>,
  signal: AbortSignal,
): Promise<Decisions> {
  const answered = await askAs(call, "/v1/decisions", body, { signal });
  const statements = body.questions.map(({ instructions }) => instructions);
  return { answers: decisionsIn(answered.value, statements), info: answered, totalMs: answered.totalMs };
}

/** Answers are in the order of the questions. */
export function decisionsIn(answer: unknown, statements: readonly string[]): readonly Decided[] {
  const answers = answer !== null && typeof answer === "object" && "answers" in answer ? answer.answers : null;
  if (!Array.isArray(answers)) return [];
  return answers.map((one: { probability?: unknown } | null, at): Decided => {
    const probability = one?.probability;
    return { statement: statements[at] ?? "", probability: typeof probability === "number" ? probability : null };
  });
}
