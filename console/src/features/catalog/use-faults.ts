import { useEffect, useState } from "react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";

/** Validation errors by field. Empty: the form can be sent. */
export type Faults = Readonly<Record<string, string>>;

interface FormFaults {
  /** Call it on submit: shows errors from then on and returns whether the form can be sent. */
  readonly check: () => boolean;
  /** The error of a field. */
  readonly of: (field: string) => string | null;
}

/**
 * Shows errors next to their fields after the first attempt to submit the form, not while typing. Errors from the gateway are shown
 * in the same places; render `FormProblem` below the fields for the rest.
 */
export function useFaults(faults: Faults, problem: Problem | null): FormFaults {
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
