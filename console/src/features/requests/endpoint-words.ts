import { modelEndpoints } from "@sluice/contract";

/** Endpoints as the ledger names them, and what they are to a reader. */
export const endpointWords: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(modelEndpoints).map(([name, { label }]) => [name, label])),
  video: "Video tasks",
  "pass-through": "Pass-through",
};
