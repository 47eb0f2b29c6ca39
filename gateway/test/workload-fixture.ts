import { readEnvironment } from "#config/index.ts";
import type { Workload } from "#ports/index.ts";

/** The identity of a machine with these variables and files. Without `SLUICE_…` variables it allows nothing. */
export function workloadOf(
  variables: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Workload {
  return {
    ...readEnvironment(variables).workload,
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw new Error("does not exist");
      return text;
    },
  };
}

export const noWorkload = workloadOf();
