import { useEffect, useState } from "react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";

/** Validation errors by field. Empty: the form can be sent. */
export type Faults = Readonly<Record<string, string>>;

interface ToldFaults {
  /** Call it on submit: shows errors from then on and returns whether the form can be sent. */
  readonly check: () => boolean;
  /** The error of a field. */
  readonly of: (field: string) => string | null;
}

/**
 * Faults are told where they are, and only when somebody tried to send the form: nobody is scolded while typing. What the
 * gateway refused stands in the same places; draw `FormProblem` below the fields for the rest of it.
 */
export function useFaults(faults: Faults, problem: Problem | null): ToldFaults {
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (tries > 0) document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [tries]);
  return {
    check: () => {
      setTries((before) => before + 1);
      return Object.keys(faults).length === 0;
    },
    of: (field) => {
      const fault = tries > 0 ? faults[field] : undefined;
      return fault ?? wrongField(problem, field);
    },
  };
}
