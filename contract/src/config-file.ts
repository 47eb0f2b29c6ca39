/** The schema of the config file and what is read off it. */
export * from "./budget-policies.ts";
export * from "./config.ts";
export * from "./config-fields.ts";
export * from "./config-limits.ts";
export * from "./config-people.ts";
export * from "./guardrail-fields.ts";
export * from "./rehearsed-change.ts";
export * from "./rights-rules.ts";
