import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";

export interface FieldProblems {
  /** What to say beside a field; null: nothing is wrong with it. */
  readonly of: (field: string) => string | null;
  /** A problem that stands beside one of the fields. */
  readonly marked: Problem | null;
  /** One that no field shows. */
  readonly rest: Problem | null;
}

/** What is wrong with a form stands beside the field that it is about, or else beside the answer; never in both places. */
export function fieldProblems(problem: Problem | null, fields: readonly string[]): FieldProblems {
  const beside = fields.some((field) => wrongField(problem, field) !== null);
  return {
    of: (field) => wrongField(problem, field),
    marked: beside ? problem : null,
    rest: beside ? null : problem,
  };
}
