import { useEffect, useState } from "react";
import type { Problem } from "../../client/problem.ts";
import { wrongField } from "../../components/wrong-field.ts";

/** What is wrong with a form as it stands, by the field that it stands beside. Empty: it can be sent. */
export type Faults = Readonly<Record<string, string>>;

interface ToldFaults {
  /** To be called when the form is to be sent: tells what is wrong from then on. Whether it can be sent. */
  readonly check: () => boolean;
  /** What stands beside a field. */
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
