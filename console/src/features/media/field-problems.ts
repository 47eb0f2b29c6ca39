import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";

export interface FieldProblems {
  /** The error of a field; null if it is valid. */
  readonly of: (field: string) => string | null;
  /** A problem with one of the fields. */
  readonly marked: Problem | null;
  /** A problem that no field shows. */
  readonly rest: Problem | null;
}

/** Errors show at their field, or else at the response; never in both places. */
export function fieldProblems(problem: Problem | null, fields: readonly string[]): FieldProblems {
  const beside = fields.some((field) => wrongField(problem, field) !== null);
  return {
    of: (field) => wrongField(problem, field),
    marked: beside ? problem : null,
    rest: beside ? null : problem,
  };
}
